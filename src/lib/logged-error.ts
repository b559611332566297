import { stdSerializers } from 'pino'

/**
 * The properties of an error that are logged beside its type, message and stack: names and numbers. Other properties
 * may contain personal data: a database sends the refused row (`detail`, `where`, `internalQuery`), and an HTTP client
 * the response that it could not parse.
 */
const FACTS = [
  ['code', 'errno', 'syscall', 'hostname', 'address', 'port', 'path'],
  // SQLite
  ['errcode', 'errstr'],
  // PostgreSQL
  ['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
].flat()

interface LoggedError extends Record<string, unknown> {
  type?: unknown
  message?: unknown
  stack?: unknown
  aggregateErrors?: LoggedError[]
}

/** Serializes `err` in log lines. */
export const toLoggedError = (error: unknown): unknown =>
  error instanceof Error ? pick(stdSerializers.err(error)) : String(error)

const pick = (serialized: LoggedError): LoggedError => {
  const { type, message, stack, aggregateErrors } = serialized
  const facts = FACTS.flatMap((name) => (isFact(serialized[name]) ? [[name, serialized[name]]] : []))
  return {
    type,
    message,
    stack,
    ...Object.fromEntries(facts),
    ...(aggregateErrors && { aggregateErrors: aggregateErrors.map(pick) }),
  }
}

const isFact = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'
