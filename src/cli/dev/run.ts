import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Config } from '../../config/config.ts'
import type { Environment } from '../../config/setting.ts'
import { AppError } from '../../lib/errors.ts'
import { createLog, createPrettyStream, type Log } from '../../lib/log.ts'
import { SIGNALS, stopOnSignal } from '../../serve/stop-on-signal.ts'
import { type Dev, type DevOptions, startDev } from '../../dev/dev.ts'
import { createPaint } from '../terminal/text.ts'
import { jsonLineOf, lineOf, readyJson, screenOf } from './screen.ts'

interface RunOptions extends DevOptions {
  json: boolean
  quiet: boolean
  opensBrowser: boolean
  /** It is started once svc serves; `svc dev` ends with it. */
  command: string[]
}

interface RunDeps {
  options: RunOptions
  environment: Environment
  readConfig: (environment: Environment) => Config
  endWithParent: () => void
}

const STOP_WITHIN_MS = 10_000

/** Runs `svc dev` until it is told to stop, or its command has ended. */
export const runDev = async ({ options, environment, readConfig, endWithParent }: RunDeps): Promise<void> => {
  // A test that was killed, and npx, tell nothing.
  if (options.json || environment['npm_command'] === 'exec') endWithParent()
  const createLogOf = (config: Config): Log =>
    environment['SVC_LOG_LEVEL'] ? createLog(config.logLevel, destination()) : createLog('warn', withoutDeliveries())
  const removeExit = exitOnSignal()
  const dev = await startDev({ options, environment, readConfig, createLog: createLogOf })
  let child: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (child) await endChild(child)
    await dev.stop()
  }
  const removeHandlers = stopOnSignal({ stop, withinMs: STOP_WITHIN_MS, log: dev.log })
  removeExit()
  tell(dev, options)
  if (options.opensBrowser) openBrowser(dev.url)
  if (options.command.length === 0) return
  child = startChild(options, environment, dev)
  const code = await exitCodeOf(child, options.command)
  removeHandlers()
  await dev.stop()
  process.exitCode = code
}

const exitBy = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal])

/** A signal during the start ends the process, and its exit removes what it has made. Returns how to take that back. */
const exitOnSignal = (): (() => void) => {
  for (const signal of SIGNALS) process.once(signal, exitBy)
  return () => {
    for (const signal of SIGNALS) process.off(signal, exitBy)
  }
}

const write = (text: string): boolean => process.stdout.write(text)
const writeError = (text: string): boolean => process.stderr.write(text)

const destination = () => (process.stderr.isTTY ? createPrettyStream(writeError) : { write: writeError })

/** The line of an event says already how its delivery went. */
const withoutDeliveries = () => {
  const { write: writeLine } = destination()
  return { write: (line: string) => void (line.includes('"message":"webhook failed"') || writeLine(line)) }
}

/** Shows what there is, and then what happens. */
const tell = (dev: Dev, options: RunOptions): void => {
  for (const warning of dev.warnings) dev.log.warn(warning)
  if (options.json) {
    write(readyJson(dev))
    dev.follow((event) => void write(jsonLineOf(event)))
    return
  }
  if (options.quiet) return
  const paint = createPaint()
  write(screenOf(dev, options, paint))
  dev.follow((event) => {
    const line = lineOf(event, dev.url, paint)
    if (line !== undefined) write(line)
  })
}

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** A machine without a browser is no error: the address stands on the screen. */
const openBrowser = (url: string): void => {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

/** The application, or its tests, find in the environment what the first screen shows. */
const startChild = ({ app, command }: RunOptions, environment: Environment, dev: Dev): ChildProcess => {
  const [program = '', ...args] = command
  const { port } = new URL(app ?? 'http://localhost')
  const env = {
    ...(port && { PORT: port }),
    ...environment,
    SVC_URL: dev.url,
    SVC_API_KEY: dev.apiKey,
    SVC_WEBHOOK_SECRET: dev.webhookSecret,
  }
  return spawn(program, args, { stdio: 'inherit', env })
}

/** Shells report 128 and the number of the signal; 127 stands for a program that does not exist. */
const exitCodeOf = async (child: ChildProcess, [program]: string[]): Promise<number> => {
  try {
    const [code]: (number | null)[] = await once(child, 'exit')
    return code ?? 1
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    process.stderr.write(`svc: ${new AppError('unavailable', `${program} cannot be started (${code})`).message}\n`)
    return 127
  }
}

const CHILD_PATIENCE_MS = 3000

const endChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), CHILD_PATIENCE_MS)
  await ended
  clearTimeout(patience)
}
