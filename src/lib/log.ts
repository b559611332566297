import { escapeControls, toJsonText } from './control-characters.ts'
import { timestampNow, withTimeout } from './time.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Writes a line with facts and a message, or with a message alone. Facts that are undefined are left out. */
interface Write {
  (facts: object, message: string): void
  (message: string): void
}

/**
 * The log of the service has one line of JSON for each event, with its level, time, facts and message, in this order.
 */
export interface Log extends Record<Exclude<LogLevel, 'silent'>, Write> {
  isLevelEnabled(level: LogLevel): boolean
  /** Calls `onWritten` when all lines are written or dropped. */
  flush(onWritten?: () => void): void
}

interface Destination {
  write(line: string): void
  flush?(onWritten?: () => void): void
}

/** Creates a log of JSON lines; `createPrettyStream` makes them readable. */
export const createLog = (level: LogLevel, destination: Destination): Log => {
  const isLevelEnabled = (it: LogLevel): boolean => LOG_LEVELS.indexOf(it) >= LOG_LEVELS.indexOf(level)

  const writeAt = (at: LogLevel): Write => {
    if (!isLevelEnabled(at)) return () => {}
    return (first: object | string, message?: string) => {
      const [facts, text] = typeof first === 'string' ? [{}, first] : [first, message]
      destination.write(toLine({ level: at, time: timestampNow(), ...factsOf(facts), message: text }))
    }
  }

  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
    isLevelEnabled,
    flush(onWritten) {
      if (destination.flush) destination.flush(onWritten)
      else onWritten?.()
    },
  }
}

/** An error is logged with the properties that may be logged, and no others. */
const factsOf = (facts: object): object => {
  if (facts instanceof Error) return { err: toLoggedError(facts) }
  return 'err' in facts && facts.err !== undefined ? { ...facts, err: toLoggedError(facts.err) } : facts
}

const toLine = (line: { level: LogLevel; time: string; message: string | undefined }): string => {
  try {
    return `${toJsonText(line)}\n`
  } catch (error) {
    // A fact for which JSON has no form must not end the request that is logged.
    const { level, time, message } = line
    return `${toJsonText({ level, time, problem: String(error), message })}\n`
  }
}

/**
 * These properties of an error are logged beside its type, message and stack: names and numbers. Other properties may
 * contain personal data: a database sends the refused row (`detail`, `where`, `internalQuery`), and an HTTP client the
 * response that it could not parse.
 */
const FACTS = [
  ['code', 'errno', 'syscall', 'hostname', 'address', 'port', 'path'],
  // SQLite sets these.
  ['errcode', 'errstr'],
  // PostgreSQL sets these.
  ['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
].flat()

interface ErrorLike extends Record<string, unknown> {
  message: string
}

/** Serializes `err` in log lines: its type, and the messages and stacks of the error and of its causes. */
const toLoggedError = (error: unknown): unknown =>
  error instanceof Error && isErrorLike(error) ? describeError(error) : String(error)

const describeError = (error: ErrorLike): object => {
  const chain = withCauses(error)
  const facts = FACTS.flatMap((name) => (isFact(error[name]) ? [[name, error[name]]] : []))
  return {
    type: error.constructor.name,
    message: chain.map(({ message }) => message).join(': '),
    stack: chain.map(({ stack }) => stack).join('\ncaused by: '),
    ...Object.fromEntries(facts),
    ...(Array.isArray(error.errors) && { aggregateErrors: error.errors.map(toLoggedError) }),
  }
}

/** Lists the error, its cause, the cause of that, and so on; each once, since causes may form a circle. */
const withCauses = (error: ErrorLike): ErrorLike[] => {
  const chain: ErrorLike[] = []
  for (let next: unknown = error; isErrorLike(next) && !chain.includes(next); next = next.cause) chain.push(next)
  return chain
}

const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'

const isFact = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** This is the time limit for writing the last lines of a process. */
const LAST_LINES_MS = 500

/** Resolves when every line has been written or dropped. */
export const flushLog = (log: Log): Promise<void> =>
  withTimeout(LAST_LINES_MS, new Promise<void>((resolve) => log.flush(() => resolve())), undefined)

const COLOURS: Record<string, string> = { debug: '\x1b[2m', info: '\x1b[32m', warn: '\x1b[33m', error: '\x1b[31m' }

/**
 * Creates a destination that turns JSON lines into lines for a terminal: `10:47:00 info request GET /auth/login 200`.
 */
export const createPrettyStream = (write: (line: string) => void): Destination => ({
  write(json) {
    const { level, time, message, err, ...facts } = JSON.parse(json) as Record<string, unknown>
    const shown = Object.entries(facts).map(([name, value]) => `\x1b[2m${name}=\x1b[0m${show(value)}`)
    const stack = err && typeof err === 'object' && 'stack' in err ? `\n${escapeControls(String(err.stack))}` : ''
    const head = `\x1b[2m${String(time).slice(11, 19)}\x1b[0m ${COLOURS[String(level)] ?? ''}${String(level)}\x1b[0m`
    write(`${[head, show(String(message)), ...shown].join(' ')}${stack}\n`)
  },
})

/** Text from clients must not move the cursor or begin a new line. */
const show = (value: unknown): string =>
  escapeControls(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\\n')
