// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readEmail } from '../../src/lib/email-address.ts'
import { accountNames, consistsOfName } from '../../src/accounts/passwords/password-names.ts'

/** The maximum length of a form. */
const LENGTH = 16_000
const ROUNDS = 20

// With work that grows with the square of the length, these take ten seconds and more; else some milliseconds.
// Each round lets the timer of the test have its turn.
const options = { timeout: 5000 }

test('an email field full of spaces takes time in proportion to its length', options, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await setImmediate()
    assert.equal(readEmail(`a${' '.repeat(LENGTH)}a`), undefined)
  }
  assert.equal(readEmail(`${' '.repeat(LENGTH)}a@b.example${' '.repeat(LENGTH)}`)?.shown, 'a@b.example')
})

test(
  'the check of a password against names full of digits takes time in proportion to their length',
  options,
  async () => {
    const name = `a${'1'.repeat(LENGTH)}a`
    for (let round = 0; round < ROUNDS; round += 1) {
      await setImmediate()
      assert.equal(consistsOfName('correct horse battery', accountNames([name, `${name}@${name}`, name])), false)
    }
  },
)
