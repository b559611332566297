import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards } from './cleanup.ts'
import type { CommandResult, Environment } from './command.ts'
import { runSvc, spawnSvc } from './command.ts'
import { databaseSettings } from './folder-database.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { makeTurnable } from './turned-database.ts'

/** One structured line of the service's log. */
export type LogLine = { level: string; message: string } & Record<string, unknown>

/** A real `svc serve` in a folder of its own, with its database, secret and log. */
export type Service = {
  /** The public origin, http://localhost:PORT. */
  url: string
  port: number
  directory: string
  /** The settings that it runs with, its port among them. */
  readonly env: Environment
  /** All that was written to stdout and stderr so far, over every restart. */
  logs(): string
  logLines(): LogLine[]
  /** Sends SIGTERM and resolves to the exit code, or to a failure after 15 s. */
  stop(): Promise<number | null>
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Resolves to the exit code when the current process ends by itself. */
  ended(): Promise<number | null>
  /** Starts again in the same folder on the same port; `env` is laid over what it had. */
  restart(options?: { env?: Environment }): Promise<void>
  /** Runs a command with the service's settings, in its folder. */
  cli(args: string[], options?: { input?: string; env?: Environment }): Promise<CommandResult>
  [Symbol.asyncDispose](): Promise<void>
}

type Running = {
  /** The port, once it serves; rejects when it ends before. */
  listening: Promise<number>
  ended: Promise<number | null>
  signal(name: NodeJS.Signals): void
}

const parseLine = (text: string): LogLine[] => {
  if (!text.startsWith('{')) return []
  try {
    const line: LogLine = JSON.parse(text)
    return [line]
  } catch {
    return []
  }
}

/** What was parsed once is not parsed again: tests wait for a line by looking again and again. */
const createLineReader = (output: () => string) => {
  let lines: LogLine[] = []
  let readTo = 0
  return (): LogLine[] => {
    const text = output()
    const end = text.lastIndexOf('\n') + 1
    lines = [...lines, ...text.slice(readTo, end).split('\n').flatMap(parseLine)]
    readTo = end
    return [...lines, ...parseLine(text.slice(end))]
  }
}

const listeningPort = (logs: string): number | undefined => {
  const line = logs.split('\n').flatMap(parseLine)
  const serving = line.find(({ message }) => message === 'svc is serving')
  return serving && Number(new URL(String(serving.listen)).port)
}

// Below what systems hand out for outgoing connections, so that a restart finds its port still free.
const PORTS = [10_240, 32_000] as const
const somePort = (): string => String(randomInt(...PORTS))

type Launch = Pick<Parameters<typeof spawnSvc>[0], 'cwd' | 'env' | 'launcher' | 'fileSizeLimitKiB'> & {
  keep: (text: string) => void
}

const launch = ({ keep, ...options }: Launch): Running => {
  const child = spawnSvc({ args: ['serve'], ...options })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>()
  let logs = ''
  let serves = false
  const read = (text: string) => {
    keep(text)
    if (serves) return
    logs += text
    const port = listeningPort(logs)
    serves = port !== undefined
    if (port !== undefined) resolve(port)
  }
  child.stderr.on('data', read)
  child.stdout.on('data', keep)
  const patience = setTimeout(() => reject(new Error(`svc did not start within 15 s:\n${logs}`)), 15_000).unref()
  void ended.then((code) => reject(new Error(`svc did not start (exit ${code}):\n${logs}`)))
  listening.catch(() => {}).finally(() => clearTimeout(patience))
  return { listening, ended, signal: (name) => void child.kill(name) }
}

const stopped = async (running: Running): Promise<number | null> => {
  const patience = new AbortController()
  const tooLong = sleep(15_000, 'still running' as const, { signal: patience.signal, ref: false }).catch(() => null)
  running.signal('SIGTERM')
  const code = await Promise.race([running.ended, tooLong])
  patience.abort()
  if (code !== 'still running') return code
  running.signal('SIGKILL')
  await running.ended
  throw new Error('svc was still running 15 s after SIGTERM')
}

/** The database of a service whose clock can be turned is turned with it. */
const makeClockTurnable = async ({ TEST_CLOCK_FILE: name, SVC_DATABASE_URL: url }: Environment): Promise<void> => {
  if (name !== undefined && url?.startsWith('postgres:')) await makeTurnable(name, url)
}

/**
 * Starts the service on a free port with rate limits off and waits until it serves, with the database of this run (see
 * `databaseSettings`). It ends, and its folder is removed, after the test `t`, or after the file when no test is given.
 */
export const startService = async ({
  env = {},
  cwd,
  launcher,
  fileSizeLimitKiB,
  t,
}: {
  env?: Environment
  cwd?: string
  /** That of another version of svc. */
  launcher?: string
  fileSizeLimitKiB?: number
  t?: TestContext
} = {}): Promise<Service> => {
  const directory = cwd ?? temporaryDirectory(t)
  const database = await databaseSettings(directory, env, t)
  let settings: Environment = { SVC_PORT: somePort(), SVC_RATE_LIMIT: 'off', ...database, ...env }
  await makeClockTurnable(settings)
  let output = ''
  const keep = (text: string) => {
    output += text
  }
  const logLines = createLineReader(() => output)
  const begin = () => launch({ cwd: directory, env: settings, launcher, fileSizeLimitKiB, keep })
  let running = begin()
  const listening = (triesLeft: number): Promise<number> =>
    running.listening.catch(async (error: unknown) => {
      running.signal('SIGKILL')
      await running.ended
      const isTaken = env.SVC_PORT === undefined && /Port \d+ on \S+ is taken/.test(String(error))
      if (!isTaken || triesLeft === 0) throw error
      output = ''
      settings = { ...settings, SVC_PORT: somePort() }
      running = begin()
      return listening(triesLeft - 1)
    })
  const port = await listening(5)
  settings = { ...settings, SVC_PORT: String(port) }

  const kill = async () => {
    running.signal('SIGKILL')
    await running.ended
  }
  afterwards(t, kill)
  return {
    url: `http://localhost:${port}`,
    port,
    directory,
    get env() {
      return settings
    },
    logs: () => output,
    logLines,
    stop: () => stopped(running),
    kill,
    signal: (name) => running.signal(name),
    ended: () => running.ended,
    restart: async ({ env: changes = {} } = {}) => {
      await kill()
      settings = { ...settings, ...changes }
      running = begin()
      await running.listening
    },
    cli: (args, { input = '', env: changes = {} } = {}) =>
      runSvc({ args, cwd: directory, env: { ...settings, ...changes }, launcher, input }),
    [Symbol.asyncDispose]: kill,
  }
}
