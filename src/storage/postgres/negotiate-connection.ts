import pg from 'pg'
import { AppError, unavailable } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import { isAccessDenied, isMissingPassword, isPoolerMisconfigured, translatePostgresError } from './errors.ts'
import { encryptionsFor, isEncryptionFailure, toClientConfig } from './tls.ts'
import type { ConnectionInfo } from './url.ts'

const CONNECT_TIMEOUT_MS = 5000
const RETRY_INTERVAL_MS = 500

interface NegotiationOptions {
  waitMs: number
  onWait: (error: Error) => void
  /** This setting or command-line option holds the URL, for error messages. */
  settingName?: string
}

/**
 * Finds out whether a server can be reached with TLS or without, and resolves to the configuration for `pg`. Throws
 * `unavailable` when the server stays away, or at once when it denies access, because waiting would be useless.
 */
export const negotiateConnection = async (
  info: ConnectionInfo,
  { waitMs, onWait, settingName = 'SVC_DATABASE_URL' }: NegotiationOptions,
) => {
  const deadline = performance.now() + waitMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryEncryptions(info)
    } catch (error) {
      if (error instanceof AppError || !(error instanceof Error)) throw error
      if (isAccessDenied(error) || isEncryptionFailure(error) || performance.now() >= deadline)
        throw toUnavailable(info, settingName, error)
      if (attempt === 1) onWait(withMessage(error))
      await sleep(RETRY_INTERVAL_MS)
    }
  }
}

const tryEncryptions = async (info: ConnectionInfo): Promise<pg.ClientConfig> => {
  const [first, second] = encryptionsFor(info).map((encryption) => toClientConfig(info, encryption))
  if (!first) throw new AppError('internal_error', 'There is no way to connect.')
  try {
    return await tryConnection(first)
  } catch (error) {
    if (!second || !isEncryptionFailure(error)) throw error
    return tryConnection(second)
  }
}

const tryConnection = async (options: pg.ClientConfig): Promise<pg.ClientConfig> => {
  const limits = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS }
  const clients = [1, 2].map(() => new pg.Client({ ...limits, ...options }))
  try {
    for (const client of clients) {
      client.on('error', () => {})
      await client.connect()
    }
    await requirePreparedStatements(clients)
    return options
  } finally {
    for (const client of clients) void client.end().catch(() => {})
  }
}

/**
 * Prepares a statement of the same name on every connection. It fails behind a pooler that maps them to one connection
 * of the server without keeping their prepared statements apart.
 */
const requirePreparedStatements = async (clients: pg.Client[]): Promise<void> => {
  for (const client of clients) {
    await client.query({ name: 'svc_start', text: 'SELECT 1' }).catch((error: unknown) => {
      const translated = translatePostgresError(error)
      throw isPoolerMisconfigured(translated) ? translated : error
    })
  }
}

const toUnavailable = ({ redactedUrl }: ConnectionInfo, settingName: string, error: Error): AppError =>
  unavailable(`The database ${redactedUrl} (${settingName}) ${adviceFor(error)}.`, withMessage(error))

const adviceFor = (error: Error): string => {
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('28') || isMissingPassword(error))
    return 'denies access: check user and password, and pg_hba.conf of the server'
  if (code === '3D000') return 'does not exist: create it, and svc makes its tables'
  if (code === '42501') return 'does not allow this user to connect: GRANT CONNECT'
  if (isEncryptionFailure(error)) return 'cannot be reached with this sslmode'
  return 'does not answer: check host and port, and whether the server runs'
}

/** If a host has several addresses, Node throws an error without a message that holds one error for each address. */
const withMessage = (error: Error): Error => {
  if (!(error instanceof AggregateError)) return error
  return new Error(error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(', '))
}
