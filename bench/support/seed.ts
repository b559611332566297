import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { REFRESH_TOKEN_PREFIX } from '../../src/clients/authorization-code.ts'
import { openSecretFile } from '../../src/config/root-secret.ts'
import { createCsrfTokens } from '../../src/http/csrf-token.ts'
import { createRefreshTokens } from '../../src/sessions/tokens/refresh-token.ts'
import { sendRequest } from './connection.ts'
import { DATABASE } from './servers.ts'
import { keepCookies, postRefresh, type SignedInUser } from './users.ts'

const DAY_MS = 86_400_000

/** IDs as the service creates them: UUIDs of version 7 in the order of time, ten milliseconds apart. */
const uuidAt = (table: number, n = 'n'): string => {
  const time = `(:first + ${n} * 10)`
  return `printf('%08x-%04x-7${table}%02x-8000-%012x', ${time} >> 16, ${time} & 65535, ${n} & 255, ${n})`
}

const ROWS = 'WITH RECURSIVE rows(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM rows WHERE n < :count)'
// Real names arrive in no order: 2654435761 scatters these (Knuth's multiplicative hash).
const NAME = "printf('%08x', (n * 2654435761) & 4294967295)"

const USERS = `${ROWS}
  INSERT INTO users (id, email, email_lower, username, password_hash, roles, disabled, created_at, updated_at)
  SELECT ${uuidAt(1)}, ${NAME} || '@example.com', ${NAME} || '@example.com', ${NAME},
    '$argon2id$v=19$m=19456,t=2,p=1$' || hex(randomblob(11)) || '$' || hex(randomblob(21)), '[]', 0, :first + n * 10,
    :first + n * 10
  FROM rows`

const SESSIONS = `${ROWS}
  INSERT INTO sessions (id, user_id, salt, generation, replaced_at, created_at, last_seen_at, expires_at,
    absolute_expires_at, user_agent, address, device_hash)
  SELECT ${uuidAt(2)}, ${uuidAt(1)}, hex(randomblob(11)), 1, '[]', :now, :now, :now + ${14 * DAY_MS},
    :now + ${30 * DAY_MS}, 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', '203.0.113.7',
    hex(randomblob(32))
  FROM rows`

const GRANTS = `${ROWS}
  INSERT INTO grants (id, user_id, client_id, salt, generation, replaced_at, created_at, last_used_at, expires_at,
    absolute_expires_at, scopes, resource, authenticated_at, amr)
  SELECT ${uuidAt(3)}, ${uuidAt(1, '(1 + n % :users)')}, CASE n % 2 WHEN 0 THEN :confidential ELSE :native END,
    hex(randomblob(11)), 1, '[]', :now, :now, :now + ${90 * DAY_MS}, :now + ${365 * DAY_MS},
    'openid offline_access notes:read', :resource, :now, 'pwd'
  FROM rows`

/** Grants of two clients in turn, to users in turn. */
export interface SeededGrants {
  count: number
  /** Ids of clients. */
  native: string
  confidential: string
  resource: string
}

/** Fills the database of a stopped service with `count` users, each with one session. */
export const seed = (folder: string, count: number, grants?: SeededGrants): void => {
  const connection = new DatabaseSync(join(folder, DATABASE))
  const nowMs = Date.now()
  const first = nowMs - DAY_MS - count * 10
  connection.exec('PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; BEGIN')
  connection.prepare(USERS).run({ first, count })
  connection.prepare(SESSIONS).run({ first, count, now: nowMs })
  if (grants) {
    const { count: grantCount, ...clients } = grants
    connection.prepare(GRANTS).run({ first, ...clients, count: grantCount, users: count, now: nowMs })
  }
  connection.exec('COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
}

interface SeededRow {
  id: string
  salt: string
}

/** `count` of the seeded sessions, or of the grants of a client, evenly spread over all of them. */
const selectRows = (folder: string, count: number, clientId?: string): SeededRow[] => {
  const connection = new DatabaseSync(join(folder, DATABASE), { readOnly: true })
  const [from, ...values] = clientId === undefined ? ['sessions'] : ['grants WHERE client_id = ?', clientId]
  const all = connection.prepare(`SELECT id, salt FROM ${from} ORDER BY id`).all(...values) as unknown as SeededRow[]
  connection.close()
  const step = Math.max(1, Math.floor(all.length / count))
  return all.filter((_, at) => at % step === 0).slice(0, count)
}

const AT_ONCE = 64

/**
 * Signs in the owners of `count` seeded sessions by one refresh each, with tokens derived as the service derives them.
 */
export const signInSeeded = async (port: number, folder: string, count: number): Promise<SignedInUser[]> => {
  const rootSecret = openSecretFile(join(folder, DATABASE))
  const refreshTokens = createRefreshTokens({ rootSecret, purpose: 'refresh tokens' })
  const csrfTokens = createCsrfTokens(rootSecret)
  const users: SignedInUser[] = selectRows(folder, count).map((session) => ({
    email: '',
    cookies: new Map([
      ['svc_refresh', refreshTokens.make({ ...session, generation: 1 }).text],
      ['svc_csrf', csrfTokens.make(session.id)],
    ]),
  }))
  for (let at = 0; at < users.length; at += AT_ONCE) {
    await Promise.all(users.slice(at, at + AT_ONCE).map((user) => refresh(port, user)))
  }
  return users
}

/** The refresh tokens of `count` seeded grants of a client. */
export const refreshTokensOf = (folder: string, clientId: string, count: number): string[] => {
  const rootSecret = openSecretFile(join(folder, DATABASE))
  const refreshTokens = createRefreshTokens({ rootSecret, purpose: 'refresh tokens of clients' })
  const rows = selectRows(folder, count, clientId)
  return rows.map((grant) => REFRESH_TOKEN_PREFIX + refreshTokens.make({ ...grant, generation: 1 }).text)
}

const refresh = async (port: number, { cookies }: SignedInUser): Promise<void> => {
  const { status, head, body } = await sendRequest(port, postRefresh(cookies))
  if (status !== 200) throw new Error(`a seeded session could not be refreshed: ${status} ${body.toString()}`)
  keepCookies(cookies, head)
}
