// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Transaction } from '../../src/storage/database.ts'
import { createSecurityEvents, SECURITY_EVENTS, type SecurityEvent } from '../../src/users/security-events.ts'

const transaction = {} as Transaction
const facts = { userId: 'ada', sessionId: 'own', sinceMs: 7 }

const record = async (event: SecurityEvent, given: object = {}): Promise<string[]> => {
  const calls: string[] = []
  const apply = createSecurityEvents({
    endSessions: async (_, __, except) => {
      calls.push(`sessions but ${except ?? 'none'}`)
      return 2
    },
    endLinks: async (_, __, undoSinceMs) =>
      void calls.push(`links${undoSinceMs === undefined ? '' : `, undo from ${undoSinceMs}`}`),
    forgetBrowsers: async () => void calls.push('browsers'),
    endTrust: async () => void calls.push('trust'),
    disconnectProviders: async (_, __, sinceMs) => {
      calls.push(`providers from ${sinceMs}`)
      return ['google']
    },
  })
  await apply(transaction, event, { ...facts, ...given })
  return calls.sort()
}

describe('what events end', () => {
  const cases: Record<SecurityEvent, string[]> = {
    password_changed: ['links', 'sessions but own', 'trust'],
    password_reset: ['browsers', 'links', 'sessions but none'],
    password_set: ['browsers', 'links', 'providers from 0', 'sessions but none'],
    email_changed: ['links'],
    email_undone: ['browsers', 'links, undo from 7', 'providers from 7', 'sessions but none'],
    not_me: ['browsers', 'links', 'sessions but none'],
    taken_over: ['browsers', 'links, undo from 0', 'providers from 0', 'sessions but none'],
    sign_in_method_changed: ['sessions but own', 'trust'],
    disabled: ['links', 'sessions but none'],
  }

  for (const [event, expected] of Object.entries(cases)) {
    test(event, async () => assert.deepEqual(await record(event as SecurityEvent), expected))
  }

  test('every event of the table is tested here', () =>
    assert.deepEqual(Object.keys(cases).sort(), Object.keys(SECURITY_EVENTS).sort()))

  test('an event that undoes something needs the time when that began', () =>
    assert.rejects(record('email_undone', { sinceMs: undefined }), TypeError))

  test('connections stay where the operator asks for it', async () =>
    assert.deepEqual(await record('password_set', { keepsConnections: true }), [
      'browsers',
      'links',
      'sessions but none',
    ]))
})
