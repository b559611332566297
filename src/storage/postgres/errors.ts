import { AppError, unavailable } from '../../lib/errors.ts'
import { NO_TABLES, OTHER_TABLES, UniqueViolation } from '../database.ts'

/** The server sent this error. Any other error means that the server did not respond. */
interface ServerError extends Error {
  code: string
  severity: string
  constraint?: string
  /** This is the function in the server's source; unlike the message, it is never translated. */
  routine?: string
}

const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'

const UNIQUE_VIOLATION = '23505'

// A retry may not meet these failures; they are named by code or class
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const TRANSIENT_FAILURES: Record<string, string> = {
  '08': 'cannot be reached',
  '25006': 'is read-only',
  '25P': 'ended a transaction that took too long',
  '28': 'denies access to svc',
  '3D000': 'does not exist',
  '3F000': NO_TABLES,
  '40': 'has too many conflicting transactions',
  '42501': 'denies svc a permission',
  '42703': OTHER_TABLES,
  '42P01': NO_TABLES,
  '53': 'has no room or connections left',
  '53100': 'is full',
  '53300': 'has no connections left',
  '55': 'takes no connections',
  '55P03': 'is locked',
  '57': 'is stopping or starting',
  '57014': 'took too long',
  '58': 'cannot be read or written',
}

const describeFailure = (code: string): string | undefined =>
  TRANSIENT_FAILURES[code] ?? TRANSIENT_FAILURES[code.slice(0, 3)] ?? TRANSIENT_FAILURES[code.slice(0, 2)]

/**
 * Tells whether a prepared statement of the connection is gone, or its columns changed with the schema. Every later use
 * on the same connection would fail too.
 */
export const isStalePlan = (error: unknown): boolean =>
  isServerError(error) &&
  (error.code === '26000' ||
    (error.code === '0A000' && (error.routine === 'RevalidateCachedQuery' || error.message.includes('cached plan'))))

/** The last one: another transaction has made a row that refers to one that this one deletes. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '23503'])

/** Tells whether the operation did nothing and can run again: a conflict of two transactions, or a stale plan. */
export const isRetryable = (translated: unknown): boolean => {
  const error = translated instanceof AppError ? translated.cause : undefined
  return (isServerError(error) && CONFLICTS.has(error.code)) || isStalePlan(error)
}

/** `pg` has this message when neither a free nor a new connection came in time. */
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

/** These SQLSTATE codes end the connection. The severity would show it too, but it may be translated. */
const ENDS_CONNECTION = /^(?:08|57P|25P0[345])/

/** Tells whether the connection must not be reused: it is closed or closing, or leads to a server that is read-only. */
export const isConnectionLost = (error: unknown): boolean =>
  !isServerError(error) ||
  ENDS_CONNECTION.test(error.code) ||
  ['FATAL', 'PANIC'].includes(error.severity) ||
  error.code === '25006' ||
  isStalePlan(error)

/** Tells whether the server responded, even with an error, and is neither starting nor stopping. */
export const isServerResponse = (error: unknown): boolean => isServerError(error) && !/^(?:08|57P)/.test(error.code)

/** Tells whether a retry is useless: user or password are wrong, or the database is missing or refuses connections. */
export const isAccessDenied = (error: unknown): boolean =>
  isServerError(error) ? /^(?:28|3D|42501)/.test(error.code) : isMissingPassword(error)

/** Tells whether the server asks for a password and none was given, which the driver detects by itself. */
export const isMissingPassword = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('SASL:')

/** The messages of data exceptions and of triggers may repeat values of rows, which do not belong in a log. */
const MESSAGE_MAY_HOLD_VALUES = /^(?:22|P0)/

/** The same appendix names those that svc's own statements can cause. */
const CONDITIONS: Record<string, string> = {
  '22001': 'text too long',
  '22003': 'numeric value out of range',
  '22021': 'character not in repertoire',
  '22P02': 'invalid text representation',
  '22P05': 'untranslatable character',
  P0001: 'refused by a function of the database',
}

const hideValues = (error: ServerError): void => {
  if (!MESSAGE_MAY_HOLD_VALUES.test(error.code)) return
  const original = error.message
  error.message = `${CONDITIONS[error.code] ?? 'refused'} (SQLSTATE ${error.code})`
  error.stack = error.stack?.replace(original, error.message) ?? ''
}

/** svc's connections have these startup parameters, which a pooler must accept. */
const STARTUP_PARAMETERS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].join(',')

/**
 * No server but a pooler refuses these parameters, since PostgreSQL knows them. PgBouncer's messages are in English
 * only.
 */
const REFUSED_PARAMETER = /unsupported startup parameter: (\w+)/

/** A prepared statement is missing or exists already: the pooler switched to another connection to the server. */
const LOST_STATEMENTS = ['26000', '42P05']

/**
 * Explains to an operator how to configure the pooler that caused this error; returns undefined for every other error.
 */
const explainPoolerError = ({ code, message }: { code: string; message: string }): string | undefined => {
  const [, parameter] = REFUSED_PARAMETER.exec(message) ?? []
  if (parameter) {
    return `The database does not take the parameter ${parameter}: set ignore_startup_parameters=${STARTUP_PARAMETERS} in PgBouncer.`
  }
  if (!LOST_STATEMENTS.includes(code)) return undefined
  return (
    'The database does not keep prepared statements: with pool_mode=transaction PgBouncer must be 1.21 or later, with ' +
    'max_prepared_statements above 0; an older one needs pool_mode=session.'
  )
}

const POOLER_MISCONFIGURED = 'pooler_unfit'

const poolerMisconfigured = (message: string, cause: Error): AppError =>
  new AppError('unavailable', message, { reason: POOLER_MISCONFIGURED, retryAfterSeconds: 2, cause })

/** Tells whether the configuration of a pooler in front of the database is the cause, so that waiting is useless. */
export const isPoolerMisconfigured = (error: unknown): boolean =>
  error instanceof AppError && error.reason === POOLER_MISCONFIGURED

/** Turns an error of the driver into one that `Database` documents. */
export const translatePostgresError = (error: unknown): unknown => {
  if (error instanceof AppError || !(error instanceof Error)) return error
  if (error.message === POOL_EXHAUSTED) return unavailable('The database is overloaded.', error)
  if (!isServerError(error)) return unavailable('The database cannot be reached.', error)
  hideValues(error)
  // The schema names each uniqueness constraint `table.column`.
  if (error.code === UNIQUE_VIOLATION) return new UniqueViolation([error.constraint ?? ''], error)
  const poolerProblem = explainPoolerError(error)
  if (poolerProblem) return poolerMisconfigured(poolerProblem, error)
  const failure = describeFailure(error.code)
  if (failure) return unavailable(`The database ${failure}.`, error)
  // No text but one from a request can have a NUL character, which PostgreSQL cannot store.
  if (error.code === '22021') return new AppError('invalid_request', 'A text has a NUL character.', { cause: error })
  return new AppError('internal_error', 'The database refused a statement.', { cause: error })
}
