// Runs once.
import assert from 'node:assert/strict'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { createPasswords } from '../../src/accounts/passwords/passwords.ts'
import { OWASP_COST } from '../support/hashes/costs.ts'
import { eventually } from '../support/wait.ts'

/** Above the limit of 128 MiB by the least that counts. */
const EXPENSIVE = `$argon2id$v=19$m=131080,t=1,p=1$c29tZXNhbHQ4$${'A'.repeat(43)}`

describe('expensive foreign hashes', () => {
  test('are checked one at a time, and leave the other places to other logins', async () => {
    const passwords = createPasswords({ atOnce: 4, waiting: 10, cost: OWASP_COST, foreignBytes: 2 ** 30 })
    const ended: string[] = []
    const checks = Array.from({ length: 3 }, async () => {
      assert.equal(await passwords.check('wrong', EXPENSIVE), 'wrong')
      ended.push('expensive')
    })
    // At each turn of the loop: at a longer interval, a check could begin and end unseen.
    while (passwords.load().waiting < 2) {
      assert.equal(ended.length, 0, 'none has ended before all have begun')
      await turnOfTheLoop()
    }
    assert.equal(passwords.load().running, 1)
    const other = passwords.check('wrong', null)
    assert.equal(passwords.load().running, 2)
    assert.equal(await other, 'wrong')
    while (ended.length < 3) {
      assert.ok(passwords.load().running <= 1)
      await turnOfTheLoop()
    }
    await Promise.all(checks)
    assert.deepEqual(passwords.load(), { running: 0, waiting: 0, refused: 0 })
  })

  test('beyond twenty that wait, further ones are refused with 503', async () => {
    const passwords = createPasswords({ atOnce: 4, waiting: 100, cost: OWASP_COST, foreignBytes: 2 ** 30 })
    const leaving = new AbortController()
    const checks = Array.from({ length: 30 }, () => passwords.check('wrong', EXPENSIVE, { signal: leaving.signal }))
    const results = Promise.allSettled(checks)
    await eventually('the places are taken', () => passwords.load().refused === 9)
    leaving.abort()
    const refusals = (await results).filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    assert.equal(refusals.filter(({ reason }) => reason instanceof AppError && reason.reason === 'busy').length, 9)
    assert.equal(passwords.load().refused, 9)
  })
})

describe('SHA-crypt, which has one thread', () => {
  const ROUNDS_OF_HALF_A_SECOND = 250_000
  const slow = `$6$rounds=${ROUNDS_OF_HALF_A_SECOND}$salt$${'A'.repeat(86)}`
  const cheap = `$6$salt$${'A'.repeat(86)}`

  test('takes no place of the common queue while it waits or is computed', async () => {
    const passwords = createPasswords({ atOnce: 1, waiting: 100, cost: OWASP_COST, foreignBytes: 2 ** 30 })
    const ended: string[] = []
    const checks = [slow, cheap, cheap].map(async (hash) => {
      await passwords.check('wrong', hash)
      ended.push('SHA-crypt')
    })
    await eventually('two wait for the thread', () => passwords.load().waiting === 2)
    assert.equal(passwords.load().running, 0)
    for (let login = 0; login < 3; login += 1) await passwords.check('wrong', null)
    assert.deepEqual(ended, [], 'logins with a hash of today come first')
    await Promise.all(checks)
    assert.deepEqual(passwords.load(), { running: 0, waiting: 0, refused: 0 })
  })

  test('beyond twenty that wait, further ones are refused with 503', async () => {
    const passwords = createPasswords({ atOnce: 1, waiting: 100, cost: OWASP_COST, foreignBytes: 2 ** 30 })
    const leaving = new AbortController()
    const caller = { signal: leaving.signal }
    const results = Promise.allSettled(Array.from({ length: 30 }, () => passwords.check('wrong', slow, caller)))
    await eventually('the places are taken', () => passwords.load().refused === 9)
    leaving.abort()
    await results
  })
})

test('as many foreign hashes as are checked at once hold no more memory than one of them may', async () => {
  const passwords = createPasswords({ atOnce: 4, waiting: 10, cost: OWASP_COST, foreignBytes: 2 ** 25 })
  // 16 MiB: four of them at once would be 64.
  const hash = `$argon2id$v=19$m=16384,t=4,p=1$c29tZXNhbHQ4$${'A'.repeat(43)}`
  const checks = Array.from({ length: 4 }, () => passwords.check('wrong', hash))
  while (passwords.load().waiting < 3) await turnOfTheLoop()
  assert.equal(passwords.load().running, 1)
  await Promise.all(checks)
})

test('SHA-crypt does not keep the event loop from its work', async () => {
  const passwords = createPasswords({ atOnce: 1, waiting: 10, cost: OWASP_COST, foreignBytes: 2 ** 30 })
  const work = { ended: false }
  const check = passwords
    .check('wrong', `$6$rounds=100000$salt$${'A'.repeat(86)}`)
    .finally(() => Object.assign(work, { ended: true }))
  let turns = 0
  while (!work.ended) {
    await turnOfTheLoop()
    turns += 1
  }
  assert.equal(await check, 'wrong')
  assert.ok(turns > 100, `${turns} turns`)
})

test('an empty password opens no account, even one whose hash is that of an empty password', async () => {
  const passwords = createPasswords({ atOnce: 2, waiting: 10, cost: OWASP_COST, foreignBytes: 2 ** 30 })
  // crypt_blowfish, wrapper.c; and argon2-cffi 25.1.0 with the parameters of svc.
  const ofNothing = [
    '$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy',
    '$argon2id$v=19$m=19456,t=2,p=1$MPM3dloLcfJP9hYN+5iNBA$PRpfT9PbcxsyZXwFX3MAL5firsGAXlEdzcqIFm3GAjg',
  ]
  for (const hash of ofNothing) assert.equal(await passwords.check('', hash), 'wrong')
})
