import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { toLoggedError } from './logged-error.ts'
import { withTimeout } from './time.ts'

export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Creates a log of JSON lines; `createPrettyStream` makes them readable. */
export const createLog = (level: LogLevel, destination: DestinationStream): Log =>
  pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: toLoggedError },
    },
    destination,
  )

/** Time limit for writing the last lines of a process. */
const LAST_LINES_MS = 500

/** Resolves when every line has been written or dropped. */
export const flushLog = (log: Log): Promise<void> =>
  withTimeout(LAST_LINES_MS, new Promise<void>((resolve) => log.flush(() => resolve())), undefined)

const COLOURS: Record<string, string> = { debug: '\x1b[2m', info: '\x1b[32m', warn: '\x1b[33m', error: '\x1b[31m' }

/** A destination that turns JSON lines into lines for a terminal: `10:47:00 info request GET /auth/login 200`. */
export const createPrettyStream = (write: (line: string) => void): DestinationStream => ({
  write(json) {
    const { level, time, message, err, ...facts } = JSON.parse(json) as Record<string, unknown>
    const shown = Object.entries(facts).map(([name, value]) => `\x1b[2m${name}=\x1b[0m${show(value)}`)
    const stack = err && typeof err === 'object' && 'stack' in err ? `\n${String(err.stack)}` : ''
    const head = `\x1b[2m${String(time).slice(11, 19)}\x1b[0m ${COLOURS[String(level)] ?? ''}${String(level)}\x1b[0m`
    write(`${[head, String(message), ...shown].join(' ')}${stack}\n`)
  },
})

/** Text from clients must not move the cursor or begin a new line. */
const show = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\p{Cc}/gu, (control) =>
    JSON.stringify(control)
      .slice(1, -1)
      .replace(/^[\x7f-\x9f]$/, '?'),
  )
