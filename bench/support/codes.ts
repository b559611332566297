import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HOTP, Secret } from 'otpauth'
import { openSecretFile } from '../../src/config/root-secret.ts'
import { createSecretSealing } from '../../src/second-factor/secret-sealing.ts'
import type { Client } from './load.ts'
import { seed } from './seed.ts'
import { DATABASE } from './servers.ts'
import { fromAnywhere, keepCookies, loginFromAnywhere, postForm } from './users.ts'

const SECRET_BYTES = 20
const STEP_MS = 30_000

interface UserWithApp {
  email: string
  secret: Uint8Array
}

/**
 * Adds `count` users with an authenticator app to the database of a stopped service. All have the password of the user
 * who is there.
 */
export const seedUsersWithApps = (folder: string, count: number): UserWithApp[] => {
  const file = join(folder, DATABASE)
  seed(folder, count)
  const sealing = createSecretSealing(openSecretFile(file))
  using connection = new DatabaseSync(file)
  connection.exec(`BEGIN; DELETE FROM sessions;
    UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'user-0@example.com')`)
  const insert = connection.prepare(
    `INSERT INTO one_time_codes (user_id, secret_sealed, created_at, last_used_step, wrong_in_a_row)
     VALUES (?, ?, ?, 0, 0)`,
  )
  const users = connection.prepare('SELECT id, email FROM users').all() as { id: string; email: string }[]
  const withApps = users.map(({ id, email }) => {
    const secret = randomBytes(SECRET_BYTES)
    insert.run(id, sealing.seal(secret, id), Date.now())
    return { email, secret }
  })
  connection.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  return withApps
}

const codeOf = (secret: Uint8Array): string =>
  HOTP.generate({
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
    counter: Math.floor(Date.now() / STEP_MS),
  })

/** Logs in with password and code, each time as the next of the users: a code is good once. */
export const codeLoginClient = (users: UserWithApp[], csrfCookie: Map<string, string>): Client => {
  let next: string | undefined
  let user: UserWithApp | undefined
  return {
    expectStatus: 303,
    request() {
      if (next !== undefined) return next
      user = users.pop()
      if (!user) throw new Error('every user with an app has logged in')
      return loginFromAnywhere(user.email, csrfCookie)
    },
    onResponse({ head }) {
      const asksForCode = /\r\nlocation: \/auth\/login\/code/i.test(head)
      // A login that is not asked for a code would count twice as fast.
      if (!asksForCode && next === undefined) throw new Error('a login was not asked for a code')
      if (asksForCode && next !== undefined) throw new Error('a right code was refused')
      next = undefined
      if (!asksForCode || !user) return
      const cookies = new Map(csrfCookie)
      keepCookies(cookies, head)
      next = fromAnywhere(postForm('/auth/login/code', cookies, { code: codeOf(user.secret) }))
    },
  }
}
