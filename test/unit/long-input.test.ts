// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireUnrepeated } from '../../src/api/oauth2/client-authentication.ts'
import { readUrlEncoded } from '../../src/http/body/form.ts'
import { readEmail } from '../../src/lib/email-address.ts'
import { accountNames, consistsOfName } from '../../src/accounts/passwords/password-names.ts'

/** The maximum length of a form. */
const LENGTH = 16_000
const ROUNDS = 20

/** The least of many durations: what else the machine does adds to some of them. */
const leastMs = (work: (length: number) => void, length: number): number => {
  const durations = Array.from({ length: ROUNDS }, () => {
    const begunMs = performance.now()
    work(length)
    return performance.now() - begunMs
  })
  return Math.min(...durations)
}

/** On 64 times the length, work in proportion takes 64 times as long, and with the square 4096 times. */
const assertProportional = (work: (length: number) => void): void => {
  const ratio = leastMs(work, LENGTH) / leastMs(work, LENGTH / 64)
  assert.ok(ratio < 512, `${ratio} times as long`)
}

test('an email field full of spaces takes time in proportion to its length', () => {
  assertProportional((length) => assert.equal(readEmail(`a${' '.repeat(length)}a`), undefined))
  assert.equal(readEmail(`${' '.repeat(LENGTH)}a@b.example${' '.repeat(LENGTH)}`)?.shown, 'a@b.example')
})

test('the check of a password against names full of digits takes time in proportion to their length', () => {
  assertProportional((length) => {
    const name = `a${'1'.repeat(length)}a`
    assert.equal(consistsOfName('correct horse battery', accountNames([name, `${name}@${name}`, name])), false)
  })
})

const manyFields = (length: number): string =>
  Array.from({ length: Math.floor(length / 5) }, (_, n) => `${1000 + n}`).join('&')

test('a form of many fields takes time in proportion to their number', () => {
  const forms = new Map([LENGTH, LENGTH / 64].map((length) => [length, manyFields(length)]))
  assertProportional((length) => {
    const form = readUrlEncoded(forms.get(length) ?? '')
    requireUnrepeated({ form })
    assert.equal([...form.names].length, Math.floor(length / 5))
  })
})
