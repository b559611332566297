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

interface ErrorLike extends Record<string, unknown> {
  message: string
}

/** Serializes `err` in log lines: its type, and the messages and stacks of the error and of its causes. */
export const toLoggedError = (error: unknown): unknown =>
  error instanceof Error && isErrorLike(error) ? describe(error) : String(error)

const describe = (error: ErrorLike): object => {
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

/** The error, its cause, the cause of that, and so on; each once, since causes may form a circle. */
const withCauses = (error: ErrorLike): ErrorLike[] => {
  const chain: ErrorLike[] = []
  for (let next: unknown = error; isErrorLike(next) && !chain.includes(next); next = next.cause) chain.push(next)
  return chain
}

const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'

const isFact = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'
