import { stdSerializers } from 'pino'

/**
 * What is logged of an error beside its type, message and stack: names and numbers. What else an error carries may be
 * about a person: a database tells the row that it refuses (`detail`, `where`, `internalQuery`), a client the answer
 * that it could not read.
 */
const FACTS = [
  ['code', 'errno', 'syscall', 'hostname', 'address', 'port', 'path'],
  // of SQLite
  ['errcode', 'errstr'],
  // of PostgreSQL
  ['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
].flat()

interface LoggedError extends Record<string, unknown> {
  type?: unknown
  message?: unknown
  stack?: unknown
  aggregateErrors?: LoggedError[]
}

/** The serializer of `err` in log lines. */
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
