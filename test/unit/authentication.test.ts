// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../src/lib/caller.ts'
import { AppError } from '../../src/lib/errors.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createAuthentication } from '../../src/accounts/authentication.ts'
import { createHasPassword } from '../../src/accounts/passwords/usable-password.ts'
import { createPasswords } from '../../src/accounts/passwords/passwords.ts'
import { insertUser } from '../../src/accounts/user-store.ts'
import { freshDatabase } from '../storage/databases.ts'
import { OWASP_COST } from '../support/hashes/costs.ts'
import { newUser } from '../storage/rows.ts'

const { db } = await freshDatabase()
const passwords = createPasswords({ atOnce: 1, waiting: 10, cost: OWASP_COST, foreignBytes: 2 ** 30 })

const password = 'correct horse battery'

/** Authentication where all hashes are outdated, and the client leaves as soon as the password has been checked. */
const leavingAfterCheck = () => {
  const leaving = new AbortController()
  const callers: (Caller | undefined)[] = []
  const authentication = createAuthentication({
    db,
    clock: systemClock,
    hasPassword: createHasPassword(true),
    passwords: {
      ...passwords,
      check: async (...check) => {
        callers.push(check[2])
        const result = await passwords.check(...check)
        leaving.abort()
        return result === 'right' ? 'outdated' : result
      },
      hash: (entered, caller) => {
        callers.push(caller)
        return passwords.hash(entered, caller)
      },
    },
  })
  return { ...authentication, callers, caller: { network: '198.51.100.8', signal: leaving.signal } }
}

test('a login whose sender leaves after the check of the password is finished, so that it counts', async () => {
  const user = newUser({ passwordHash: await passwords.hash(password) })
  await db.inTransaction((transaction) => insertUser(transaction, user))
  const { authenticate, callers, caller } = leavingAfterCheck()
  const result = await authenticate(user.email, password, caller)
  assert.ok('userId' in result && result.userId === user.id)
  assert.ok('isStillValid' in result)
  assert.deepEqual(
    callers.map((one) => one?.network),
    [caller.network, caller.network],
  )
})

test('a check that has begun is finished even if its sender leaves, and one that has not is never run', async () => {
  const phc = await passwords.hash(password)
  const leaving = new AbortController()
  const begun = passwords.check('wrong', phc, leaving)
  const waiting = passwords.check('wrong', phc, leaving)
  const refused = assert.rejects(waiting, (error) => error instanceof AppError && error.reason === 'given_up')
  leaving.abort()
  assert.equal(await begun, 'wrong')
  await refused
})
