// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MESSAGES } from '../support/mail/messages.ts'

describe('messages', () => {
  for (const [name, message] of MESSAGES) {
    test(`${name} is plain data, as the outbox stores it`, () => {
      assert.deepEqual(JSON.parse(JSON.stringify(message)), message)
    })
  }
})
