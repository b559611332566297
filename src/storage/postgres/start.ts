import pg from 'pg'
import { AppError, unavailable } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import { isPoolerUnfit, isRefusal, isWithoutPassword, translatePostgresError } from './errors.ts'
import { connectionOptions, encryptionsFor, mayTryOther } from './tls.ts'
import type { PostgresTarget } from './url.ts'

const CONNECT_TIMEOUT_MS = 5000
const ASK_AGAIN_MS = 500

interface Patience {
  /** How long a server that is away is waited for. */
  patienceMs: number
  /** Hears of the first failure that is waited for. */
  onWait: (error: Error) => void
  /** The setting or option that the operator gave the URL in. */
  givenIn?: string
}

/**
 * Finds out how a server can be reached, with TLS or without, and resolves to what `pg` is to be given. `unavailable`
 * when it stays away, or at once when it answers and does not let us in: waiting would not mend that.
 */
export const reachPostgres = async (
  target: PostgresTarget,
  { patienceMs, onWait, givenIn = 'SVC_DATABASE_URL' }: Patience,
) => {
  const deadline = performance.now() + patienceMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryEncryptions(target)
    } catch (error) {
      if (error instanceof AppError || !(error instanceof Error)) throw error
      if (isRefusal(error) || mayTryOther(error) || performance.now() >= deadline)
        throw explained(target, givenIn, error)
      if (attempt === 1) onWait(withMessage(error))
      await sleep(ASK_AGAIN_MS)
    }
  }
}

const tryEncryptions = async (target: PostgresTarget): Promise<pg.ClientConfig> => {
  const [first, second] = encryptionsFor(target).map((encryption) => connectionOptions(target, encryption))
  if (!first) throw new AppError('internal_error', 'There is no way to connect.')
  try {
    return await tryOnce(first)
  } catch (error) {
    if (!second || !mayTryOther(error)) throw error
    return tryOnce(second)
  }
}

const tryOnce = async (options: pg.ClientConfig): Promise<pg.ClientConfig> => {
  const limits = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS }
  const clients = [1, 2].map(() => new pg.Client({ ...limits, ...options }))
  try {
    for (const client of clients) {
      client.on('error', () => {})
      await client.connect()
    }
    await requireOwnStatements(clients)
    return options
  } finally {
    for (const client of clients) void client.end().catch(() => {})
  }
}

/**
 * Connections prepare a statement of one name. A pooler that gives them the same connection to the server, and does not
 * keep their statements apart, has the second refused.
 */
const requireOwnStatements = async (clients: pg.Client[]): Promise<void> => {
  for (const client of clients) {
    await client.query({ name: 'svc_start', text: 'SELECT 1' }).catch((error: unknown) => {
      const translated = translatePostgresError(error)
      throw isPoolerUnfit(translated) ? translated : error
    })
  }
}

const explained = ({ shown }: PostgresTarget, givenIn: string, error: Error): AppError =>
  unavailable(`The database ${shown} (${givenIn}) ${whatToDo(error)}.`, withMessage(error))

const whatToDo = (error: Error): string => {
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('28') || isWithoutPassword(error))
    return 'does not let svc in: check user and password, and pg_hba.conf of the server'
  if (code === '3D000') return 'does not exist: create it, and svc makes its tables'
  if (code === '42501') return 'does not let this user connect: GRANT CONNECT'
  if (mayTryOther(error)) return 'cannot be reached with this sslmode'
  return 'does not answer: check host and port, and whether the server runs'
}

/** Where a host has several addresses, Node puts what went wrong with each into an error without a message. */
const withMessage = (error: Error): Error => {
  if (!(error instanceof AggregateError)) return error
  return new Error(error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(', '))
}
