import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards } from '../cleanup.ts'
import { makeTurnable } from '../clock/turned-database.ts'
import { databaseSettings } from '../database/folder-database.ts'
import { somePort } from '../network/free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { HASHES_AT_NO_COST, type Environment, type SmallDisk, runSvc, spawnSvc } from './command.ts'
import type { Service } from './service.ts'
import { createServiceLog, parseLine } from './service-log.ts'
import { runCommand } from './warm-command.ts'

/** A real `svc serve` in a separate folder, with its database, secret and log. */
export type ServiceProcess = Service & {
  /** Sends SIGTERM and resolves to the exit code. Fails after a minute. */
  stop(): Promise<number | null>
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Of the current process. */
  pid(): number
  /** Drops the log so far, which a long run could not hold. */
  forgetLogs(): void
  /** Resolves to the exit code when the current process ends by itself. */
  ended(): Promise<number | null>
}

type Running = {
  /** The port, once the service serves. Rejects if it ends before. */
  listening: Promise<number>
  ended: Promise<number | null>
  signal(name: NodeJS.Signals): void
  pid: number
}

const listeningPort = (logs: string): number | undefined => {
  const line = logs.split('\n').flatMap(parseLine)
  const serving = line.find(({ message }) => message === 'svc is serving')
  return serving && Number(new URL(String(serving.listen)).port)
}

type Launch = Pick<Parameters<typeof spawnSvc>[0], 'cwd' | 'env' | 'launcher' | 'fileSizeLimitKiB' | 'smallDisk'> & {
  keep: (text: string) => void
}

const withCheapHashes = (env: Environment): Environment => ({
  ...env,
  NODE_OPTIONS: [env.NODE_OPTIONS, HASHES_AT_NO_COST].filter(Boolean).join(' '),
})

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
  const patience = setTimeout(() => reject(new Error(`svc did not start within 60 s:\n${logs}`)), 60_000).unref()
  void ended.then((code) => reject(new Error(`svc did not start (exit ${code}):\n${logs}`)))
  listening.catch(() => {}).finally(() => clearTimeout(patience))
  return { listening, ended, pid: child.pid ?? 0, signal: (name) => void child.kill(name) }
}

const stopped = async (running: Running): Promise<number | null> => {
  const patience = new AbortController()
  const tooLong = sleep(60_000, 'still running' as const, { signal: patience.signal, ref: false }).catch(() => null)
  running.signal('SIGTERM')
  const code = await Promise.race([running.ended, tooLong])
  patience.abort()
  if (code !== 'still running') return code
  running.signal('SIGKILL')
  await running.ended
  throw new Error('svc was still running a minute after SIGTERM')
}

/** The database of a service whose clock can be turned is turned with it. */
const makeClockTurnable = async ({ TEST_CLOCK_FILE: name, SVC_DATABASE_URL: url }: Environment): Promise<void> => {
  if (name !== undefined && url?.startsWith('postgres:')) await makeTurnable(name, url)
}

/**
 * Starts `svc serve` as a process on a free port with rate limits off and waits until it serves, with the database of
 * this run (see `databaseSettings`). It is killed, and its folder is removed, after the test `t`, or after the file
 * when no test is given. It costs fifty times as much as `startService`, whose cheap hashes it has, unless the test sets
 * their cost, asks for full ones (`fullHashes`) or names the launcher of another version.
 */
export const startServiceProcess = async ({
  env = {},
  cwd,
  launcher,
  fileSizeLimitKiB,
  smallDisk,
  fullHashes = false,
  t,
}: {
  env?: Environment
  cwd?: string
  /** The schema of another version of svc. */
  launcher?: string
  fileSizeLimitKiB?: number
  smallDisk?: SmallDisk
  fullHashes?: boolean
  t?: TestContext
} = {}): Promise<ServiceProcess> => {
  const directory = cwd ?? temporaryDirectory(t)
  const database = await databaseSettings(directory, env, t)
  let settings: Environment = { SVC_PORT: somePort(), SVC_RATE_LIMIT: 'off', ...database, ...env }
  await makeClockTurnable(settings)
  const log = createServiceLog()
  const begin = () => {
    const isCheap = !fullHashes && launcher === undefined && settings.SVC_ARGON2 === undefined
    const given = isCheap ? withCheapHashes(settings) : settings
    return launch({ cwd: directory, env: given, launcher, fileSizeLimitKiB, smallDisk, keep: log.write })
  }
  let running = begin()
  const listening = (triesLeft: number): Promise<number> =>
    running.listening.catch(async (error: unknown) => {
      running.signal('SIGKILL')
      await running.ended
      const isTaken = env.SVC_PORT === undefined && /Port \d+ on \S+ is taken/.test(String(error))
      if (!isTaken || triesLeft === 0) throw error
      log.clear()
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
    logs: log.text,
    logLines: log.lines,
    forgetLogs: log.clear,
    stop: () => stopped(running),
    kill,
    signal: (name) => running.signal(name),
    pid: () => running.pid,
    ended: () => running.ended,
    restart: async ({ env: changes = {} } = {}) => {
      await kill()
      settings = { ...settings, ...changes }
      running = begin()
      await running.listening
    },
    cli: (args, { input = '', env: changes = {}, clock } = {}) => {
      const command = { args, cwd: directory, env: { ...settings, ...changes }, input }
      return launcher ? runSvc({ ...command, launcher }) : runCommand({ ...command, aheadMs: clock?.aheadMs() })
    },
    [Symbol.asyncDispose]: kill,
  }
}
