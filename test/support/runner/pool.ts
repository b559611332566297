import path from 'node:path'
import { type FileResult, startWorker, type WorkerProcess } from './worker-process.ts'

export type Database = 'sqlite' | 'postgres'

/** A test file on a database, in a process of its own where it is alone. */
export type Job = { file: string; database: Database; isAlone: boolean }

type Options = {
  root: string
  /** In the order in which they begin. */
  jobs: Job[]
  /** How many files run at the same time. */
  atOnce: number
  env: NodeJS.ProcessEnv
  /** Options of node for each process. */
  execArgv: string[]
  signal: AbortSignal
  onResult: (job: Job, result: FileResult) => void
}

/** The next job, of the same database where there is one. */
const take = (jobs: Job[], database: Database | undefined): Job | undefined => {
  const index = jobs.findIndex((job) => job.database === database)
  return jobs.splice(Math.max(index, 0), 1)[0]
}

/**
 * Runs test files in a few processes, each of which has loaded svc once. A process that ends before its file is
 * followed by another one, which runs the files that are left.
 */
export const runJobs = async ({ root, jobs, atOnce, env, execArgv, signal, onResult }: Options): Promise<void> => {
  const left = [...jobs]
  const start = (database: Database): WorkerProcess =>
    startWorker({ env: { ...env, SVC_TEST_DATABASE: database }, execArgv, signal })

  const runAlone = async ({ file, database }: Job): Promise<FileResult> => {
    const worker = start(database)
    const result = await worker.run(path.join(root, file))
    await worker.end()
    return result
  }

  const runLane = async (first: Database | undefined): Promise<void> => {
    let database = first
    let shared: WorkerProcess | undefined
    const runShared = async (job: Job): Promise<FileResult> => {
      if (shared && (job.database !== database || shared.hasEnded())) {
        await shared.end()
        shared = undefined
      }
      database = job.database
      shared ??= start(job.database)
      return shared.run(path.join(root, job.file))
    }
    for (let job = take(left, database); job && !signal.aborted; job = take(left, database))
      onResult(job, await (job.isAlone ? runAlone(job) : runShared(job)))
    await shared?.end()
  }

  const lanes = Array.from({ length: atOnce }, (_, lane) => runLane(lane % 2 === 0 ? 'sqlite' : 'postgres'))
  await Promise.all(lanes)
}
