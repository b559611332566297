import { readdirSync, readFileSync } from 'node:fs'
import type { Category } from './categories.ts'

/** The threads of Node by their names; all others work for V8. */
const THREADS: Record<string, Category | 'main'> = {
  MainThread: 'main',
  'libuv-worker': 'thread pool: syncs to disk',
  WorkerThread: 'side thread: signatures, checkpoints',
}

/** Processor time of one thread in microseconds (proc(5): `schedstat` counts nanoseconds). */
const readThread = (folder: string): { name: string; us: number } | undefined => {
  try {
    const [ns] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ')
    return { name: readFileSync(`${folder}/comm`, 'utf8').trim(), us: Number(ns) / 1000 }
  } catch {
    // The thread has ended.
    return undefined
  }
}

/** Microseconds of processor time that the threads of a process have used so far, by what they do. Linux only. */
export const readThreadTimes = (pid: number): Map<Category | 'main', number> => {
  const sums = new Map<Category | 'main', number>()
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    const thread = readThread(`/proc/${pid}/task/${tid}`)
    if (!thread) continue
    // The first thread has the name of the program until Node gives it its own.
    const role = tid === String(pid) ? 'main' : (THREADS[thread.name] ?? 'garbage collection and compilation')
    sums.set(role, (sums.get(role) ?? 0) + thread.us)
  }
  return sums
}
