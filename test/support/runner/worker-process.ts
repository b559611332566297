import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Ended, failedFile, failedTests, type Message, restore, type TestEvent } from './events.ts'

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))

const OPTIONS = [
  `--import=${new URL('./untracked-promises.js', import.meta.url).href}`,
  // Tests leave little behind: a large young generation, in megabytes, spares most collections.
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
]

/** What a test file has said and done. `ended` is undefined if its process ended first. */
export type FileResult = { events: TestEvent[]; ended: Ended | undefined }

export type WorkerProcess = {
  run(file: string): Promise<FileResult>
  hasEnded(): boolean
  /** Resolves when it is gone. */
  end(): Promise<void>
}

const isGone = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Whether node says that the file failed, and of no test. */
const failsSilently = (events: TestEvent[]): boolean =>
  events.some(({ type, data }) => type === 'test:summary' && data.success === false) &&
  !events.some(({ type }) => type === 'test:fail')

/** Starts a process that runs one test file after another. */
export const startWorker = (options: {
  env: NodeJS.ProcessEnv
  execArgv: string[]
  /** Ends it early. */
  signal: AbortSignal
}): WorkerProcess => {
  const execArgv = [...OPTIONS, ...options.execArgv]
  const child = fork(WORKER, { ...options, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const outputs = [child.stdout, child.stderr].filter((output) => output !== null)
  // Node does not say `close` of a child whose channel was closed here.
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const closed = Promise.all([exited, ...outputs.map((output) => once(output, 'close'))])
  // Said when it is ended early.
  child.on('error', () => {})
  let events: TestEvent[] = []
  for (const output of outputs)
    output.setEncoding('utf8').on('data', (message: string) => {
      events.push({ type: 'test:stdout', data: { message } })
    })

  const untilEnded = async (): Promise<Ended | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Ended | undefined>()
    const read = (message: Message) => {
      if ('ended' in message) resolve(message.ended)
      else events.push(restore(message.event))
    }
    child.on('message', read)
    void closed.then(() => resolve(undefined))
    const ended = await promise
    child.off('message', read)
    return ended
  }

  return {
    hasEnded: () => isGone(child),
    run: async (file) => {
      events = []
      child.send(file)
      const ended = await untilEnded()
      if (ended === undefined) {
        const text = `the process of this file ended before it, with ${child.signalCode ?? child.exitCode}`
        events.push(...failedTests(events, text), ...failedFile(file, text))
      }
      for (const text of ended?.errors ?? []) events.push(...failedFile(file, text))
      if (failsSilently(events)) events.push(...failedFile(file, 'this file failed outside of its tests'))
      return { events, ended }
    },
    end: async () => {
      if (child.connected) child.disconnect()
      await closed
    },
  }
}
