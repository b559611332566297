import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** The ids of all processes and their parents. */
const listProcesses = async (): Promise<[number, number][]> => {
  if (process.platform === 'linux') return readdirSync('/proc').flatMap(readStat)
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
  return stdout.split('\n').map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
    return [pid, parent]
  })
}

// A minimal machine has no `ps`.
const readStat = (name: string): [number, number][] => {
  if (!/^\d+$/.test(name)) return []
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    // After the name, which may hold anything: state, parent.
    return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]]
  } catch {
    return []
  }
}

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Freezes a process and then its children, so that it starts no more of them. Resolves to the frozen processes. */
export const freezeFamily = async (pid: number): Promise<number[]> => {
  const frozen: number[] = []
  let fresh = [pid]
  while (fresh.length > 0) {
    for (const each of fresh) send(each, 'SIGSTOP')
    frozen.push(...fresh)
    const family = await listProcesses()
    fresh = family.flatMap(([child, parent]) => (parent === pid && !frozen.includes(child) ? [child] : []))
  }
  return frozen
}

/** Lets frozen processes continue. */
export const thawAll = (pids: number[]): void => {
  for (const pid of pids) send(pid, 'SIGCONT')
}
