import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSecretFile } from '../../src/config/root-secret.ts'
import { createCsrfTokens } from '../../src/http/csrf-token.ts'
import { createRefreshTokens } from '../../src/sessions/tokens/refresh-token.ts'
import { sendRequest } from './connection.ts'
import { DATABASE } from './servers.ts'
import { keepCookies, postRefresh, type SignedInUser } from './users.ts'

const DAY_MS = 86_400_000

/** IDs as the service creates them: UUIDs of version 7 in the order of time, ten milliseconds apart. */
const uuidAt = (table: number): string => {
  const time = `(:first + n * 10)`
  return `printf('%08x-%04x-7${table}%02x-8000-%012x', ${time} >> 16, ${time} & 65535, n & 255, n)`
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

/** Fills the database of a stopped service with `count` users, each with one session. */
export const seed = (folder: string, count: number): void => {
  const connection = new DatabaseSync(join(folder, DATABASE))
  const nowMs = Date.now()
  const first = nowMs - DAY_MS - count * 10
  connection.exec('PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; BEGIN')
  connection.prepare(USERS).run({ first, count })
  connection.prepare(SESSIONS).run({ first, count, now: nowMs })
  connection.exec('COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
}

interface SeededSession {
  id: string
  salt: string
}

/** `count` of the seeded sessions, evenly spread over all of them. */
const selectSessions = (folder: string, count: number): SeededSession[] => {
  const connection = new DatabaseSync(join(folder, DATABASE), { readOnly: true })
  const all = connection.prepare('SELECT id, salt FROM sessions ORDER BY id').all() as unknown as SeededSession[]
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
  const users: SignedInUser[] = selectSessions(folder, count).map((session) => ({
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

const refresh = async (port: number, { cookies }: SignedInUser): Promise<void> => {
  const { status, head, body } = await sendRequest(port, postRefresh(cookies))
  if (status !== 200) throw new Error(`a seeded session could not be refreshed: ${status} ${body.toString()}`)
  keepCookies(cookies, head)
}
