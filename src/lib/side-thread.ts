import { Worker } from 'node:worker_threads'

/**
 * The thread does work that would keep the event loop from everything else. A task is a module of plain JavaScript,
 * which exports a function. The thread starts when it is first needed, and again if it is needed after a failure.
 */
export interface SideThread {
  /** Calls the task; rejects with what it throws, or when the thread fails. */
  run<Output>(task: URL, input: unknown): Promise<Output>
  /**
   * Does the same, unless the thread has not started yet, has another task to do, or has failed before: then it returns
   * undefined.
   */
  runIfFree<Output>(task: URL, input: unknown): Promise<Output> | undefined
}

interface Job {
  task: string
  resolve: (output: never) => void
  reject: (error: Error) => void
}

type Result = { id: number; output: unknown } | { id: number; error: Error }

export const createSideThread = (): SideThread => {
  const jobs = new Map<number, Job>()
  let worker: Worker | undefined
  let isOnline = false
  let hasFailed = false
  let lastId = 0

  const settle = (result: Result): void => {
    const job = jobs.get(result.id)
    jobs.delete(result.id)
    // An idle thread does not keep the process alive.
    if (jobs.size === 0) worker?.unref()
    if ('error' in result) job?.reject(result.error)
    else job?.resolve(result.output as never)
  }

  const fail = (failed: Worker, error: Error): void => {
    if (worker !== failed) return
    worker = undefined
    isOnline = false
    hasFailed = true
    for (const id of jobs.keys()) settle({ id, error })
  }

  const start = (): Worker => {
    const started = new Worker(new URL('./side-thread-worker.js', import.meta.url), {
      // The thread gets nothing of what was preloaded into this process.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    started.once('online', () => {
      isOnline = true
    })
    started.on('message', settle)
    started.once('error', (error: Error) => fail(started, error))
    started.once('exit', () => fail(started, new Error('The side thread has ended.')))
    // This comes after the listeners, which keep the process alive.
    started.unref()
    return started
  }

  const run = <Output>(task: URL, input: unknown): Promise<Output> =>
    new Promise((resolve, reject) => {
      worker ??= start()
      worker.ref()
      lastId += 1
      jobs.set(lastId, { task: task.href, resolve, reject })
      worker.postMessage({ id: lastId, task: task.href, input })
    })

  return {
    run,
    runIfFree(task, input) {
      // Work that can be done without the thread does not start it over and over.
      if (hasFailed) return undefined
      worker ??= start()
      const isFree = isOnline && jobs.values().every((job) => job.task === task.href)
      return isFree ? run(task, input) : undefined
    },
  }
}
