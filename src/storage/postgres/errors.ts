import { AppError, unavailable } from '../../lib/errors.ts'
import { UniqueViolation } from '../database.ts'
import { poolerTroubleOf } from './pooler.ts'

/** What the server says; anything else that is thrown means that it could not be asked. */
interface ServerError extends Error {
  /** SQLSTATE */
  code: string
  severity: string
  constraint?: string
  /** Of the server's source; unlike the message, in no language. */
  routine?: string
}

const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'

const UNIQUE_VIOLATION = '23505'

// https://www.postgresql.org/docs/current/errcodes-appendix.html: by code or class, what may be gone at the next try.
const PASSING: Record<string, string> = {
  '08': 'cannot be reached',
  '25006': 'is read-only',
  '25P': 'gave up a transaction that took too long',
  '28': 'does not let svc in',
  '3D000': 'does not exist',
  '40': 'has too many changes at once',
  '42501': 'does not let svc do this',
  '53': 'has no room or connections left',
  '53100': 'is full',
  '53300': 'has no connections left',
  '55': 'takes no connections',
  '55P03': 'is locked',
  '57': 'is stopping or starting',
  '57014': 'took too long',
  '58': 'cannot be read or written',
}

const troubleOf = (code: string): string | undefined =>
  PASSING[code] ?? PASSING[code.slice(0, 3)] ?? PASSING[code.slice(0, 2)]

/**
 * What a connection had prepared is gone, or gives other columns than before the schema was changed. It would be so at
 * every use of that connection.
 */
export const isStalePlan = (error: unknown): boolean =>
  isServerError(error) &&
  (error.code === '26000' ||
    (error.code === '0A000' && (error.routine === 'RevalidateCachedQuery' || error.message.includes('cached plan'))))

/** Two transactions were in each other's way, or a plan was stale, and this one did nothing: it may begin again. */
export const mayBeginAgain = (translated: unknown): boolean => {
  const error = translated instanceof AppError ? translated.cause : undefined
  return (isServerError(error) && ['40001', '40P01'].includes(error.code)) || isStalePlan(error)
}

/** What the pool says to who has waited too long, for a connection in use or a new one. */
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

/** The server ends the connection with these. By code: the severity comes in the language of the server. */
const ENDS_CONNECTION = /^(?:08|57P|25P0[345])/

/** The connection cannot be used for anything else: it is gone, about to go, or leads to a server that takes no writes. */
export const isConnectionLost = (error: unknown): boolean =>
  !isServerError(error) ||
  ENDS_CONNECTION.test(error.code) ||
  ['FATAL', 'PANIC'].includes(error.severity) ||
  error.code === '25006' ||
  isStalePlan(error)

/** The server has answered, be it with a refusal: it is there, and not just coming or going. */
export const isAnswer = (error: unknown): boolean => isServerError(error) && !/^(?:08|57P)/.test(error.code)

/** What trying again cannot mend: a wrong password or user, no such database, or no right to connect to it. */
export const isRefusal = (error: unknown): boolean =>
  isServerError(error) ? /^(?:28|3D|42501)/.test(error.code) : isWithoutPassword(error)

/** The server wants a password and none was given: the driver gives up by itself. */
export const isWithoutPassword = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('SASL:')

/** Data exceptions repeat the value that they refuse, and what a trigger raises may repeat any; the code says enough. */
const TELLS_VALUES = /^(?:22|P0)/

/** What the appendix calls those that svc's own statements can meet. */
const CONDITIONS: Record<string, string> = {
  '22001': 'text too long',
  '22003': 'numeric value out of range',
  '22021': 'character not in repertoire',
  '22P02': 'invalid text representation',
  '22P05': 'untranslatable character',
  P0001: 'refused by a function of the database',
}

const hideValues = (error: ServerError): void => {
  if (!TELLS_VALUES.test(error.code)) return
  const told = error.message
  error.message = `${CONDITIONS[error.code] ?? 'refused'} (SQLSTATE ${error.code})`
  error.stack = error.stack?.replace(told, error.message) ?? ''
}

const POOLER_UNFIT = 'pooler_unfit'

const poolerUnfit = (message: string, cause: Error): AppError =>
  new AppError('unavailable', message, { reason: POOLER_UNFIT, retryAfterSeconds: 2, cause })

/** The database is unavailable because of how a pooler in front of it is set up: waiting does not mend that. */
export const isPoolerUnfit = (error: unknown): boolean => error instanceof AppError && error.reason === POOLER_UNFIT

/** Puts what the driver threw into the terms of `Database`. */
export const translatePostgresError = (error: unknown): unknown => {
  if (error instanceof AppError || !(error instanceof Error)) return error
  if (error.message === POOL_EXHAUSTED) return unavailable('The database has too much to do.', error)
  if (!isServerError(error)) return unavailable('The database cannot be reached.', error)
  hideValues(error)
  // Constraints are named after what they make unique, as `table.column`.
  if (error.code === UNIQUE_VIOLATION) return new UniqueViolation([error.constraint ?? ''], error)
  const poolerTrouble = poolerTroubleOf(error)
  if (poolerTrouble) return poolerUnfit(poolerTrouble, error)
  const trouble = troubleOf(error.code)
  if (trouble) return unavailable(`The database ${trouble}.`, error)
  // Text that cannot be stored cannot be found either: it came from outside.
  if (error.code === '22021') return new AppError('invalid_request', 'A text has a NUL character.', { cause: error })
  return new AppError('internal_error', 'The database refused a statement.', { cause: error })
}
