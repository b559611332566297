// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVerifiedTokens } from '../../src/sessions/tokens/verified-tokens.ts'

const factsOf = (sessionId: string) => ({ sessionId, userId: 'u', audience: 'app', keyId: 'k', expiresAtMs: 1 })
const tokenOf = (payload: string, letter: string): string => `header.${payload}.${letter.repeat(86)}`

test('a token is found as a whole, never by its signature alone', () => {
  const tokens = createVerifiedTokens()
  tokens.remember(tokenOf('ada', 'a'), factsOf('1'))
  assert.deepEqual(tokens.find(tokenOf('ada', 'a')), factsOf('1'))
  assert.equal(tokens.find(tokenOf('eve', 'a')), undefined)
  assert.equal(tokens.find(tokenOf('ada', 'b')), undefined)
})

test('a new token of a session takes the place of the one issued before, and of no other', () => {
  const tokens = createVerifiedTokens()
  tokens.replace(tokenOf('first', 'a'), factsOf('1'))
  tokens.replace(tokenOf('other', 'b'), factsOf('2'))
  tokens.remember(tokenOf('verified', 'c'), factsOf('1'))
  tokens.replace(tokenOf('second', 'd'), factsOf('1'))
  const found = ['first a', 'other b', 'verified c', 'second d'].map((it) => {
    const [payload = '', letter = ''] = it.split(' ')
    return tokens.find(tokenOf(payload, letter))?.sessionId
  })
  assert.deepEqual(found, [undefined, '2', '1', '1'])
})

test('a token that was replaced can be remembered again', () => {
  const tokens = createVerifiedTokens()
  tokens.replace(tokenOf('first', 'a'), factsOf('1'))
  tokens.replace(tokenOf('second', 'b'), factsOf('1'))
  tokens.remember(tokenOf('first', 'a'), factsOf('1'))
  assert.ok(tokens.find(tokenOf('first', 'a')))
  assert.ok(tokens.find(tokenOf('second', 'b')))
})
