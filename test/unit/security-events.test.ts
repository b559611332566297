// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { createSecurityEvents, SECURITY_EVENTS, type SecurityEvent } from '../../src/accounts/security-events.ts'
import type { Transaction } from '../../src/storage/database.ts'

const transaction = {} as Transaction
const facts = { userId: 'ada', sessionId: 'own', sinceMs: 7 }

/** What an event ends, and the records of it. */
const applied = async (event: SecurityEvent, given: object = {}): Promise<{ calls: string[]; records: string[] }> => {
  const calls: string[] = []
  const records: string[] = []
  const apply = createSecurityEvents({
    endSessions: async (_, __, ___, { exceptId }) => {
      calls.push(`sessions but ${exceptId ?? 'none'}`)
      return 2
    },
    endGrants: async (_, { userId, exceptSessionId }, reason) => {
      calls.push(`grants of ${userId} but of ${exceptSessionId ?? 'none'} for ${reason}`)
      return 1
    },
    endPendingSignIns: async () => void calls.push('sign-ins'),
    endLinks: async (_, __, undoSinceMs, keepsNotMe) =>
      void calls.push(
        `links${keepsNotMe ? ' but for notices' : ''}${undoSinceMs === undefined ? '' : `, undo from ${undoSinceMs}`}`,
      ),
    forgetBrowsers: async () => void calls.push('browsers'),
    endTrust: async () => void calls.push('trust'),
    disconnectProviders: async (_, __, sinceMs) => {
      calls.push(`providers from ${sinceMs}`)
      return ['google']
    },
    removePasskeys: async (_, __, sinceMs) => {
      calls.push(`passkeys from ${sinceMs}`)
      return ['Phone']
    },
    removeCodes: async (_, __, sinceMs) => {
      calls.push(`codes from ${sinceMs}`)
      return { codes: true, recoveryCodes: 10 }
    },
    forgetWrongCodes: async () => void calls.push('wrong codes'),
    recordEvent: async (_, { type, userId, details }) =>
      void records.push(`${type} of ${userId}, ${JSON.stringify(details)}`),
  })
  await apply(transaction, event, { ...facts, ...given })
  return { calls: calls.sort(), records }
}

const allEndedBy = async (event: SecurityEvent, given?: object): Promise<string[]> =>
  (await applied(event, given)).calls

const endedBy = async (event: SecurityEvent, given?: object): Promise<string[]> =>
  (await allEndedBy(event, given)).filter((call) => !call.startsWith('grants'))

describe('what events end', () => {
  const ENDS = ['sessions but none', 'sign-ins']
  const OTHERS_END = ['sessions but own', 'sign-ins']
  const cases: Record<SecurityEvent, string[]> = {
    password_changed: ['links', ...OTHERS_END, 'trust', 'wrong codes'],
    password_reset: ['browsers', 'links', ...ENDS, 'wrong codes'],
    password_set: ['browsers', 'links', 'providers from 0', ...ENDS, 'wrong codes'],
    second_factor_reset: ['browsers', 'codes from 0', 'links', ...ENDS],
    email_changed: ['links'],
    email_taken_back: ['browsers', 'links, undo from 0', ...ENDS],
    email_undone: [
      'browsers',
      'codes from 7',
      'links, undo from 7',
      'passkeys from 7',
      'providers from 7',
      ...ENDS,
      'wrong codes',
    ],
    not_me: ['browsers', 'links but for notices', ...ENDS],
    taken_over: ['browsers', 'codes from 0', 'links, undo from 0', 'passkeys from 0', 'providers from 0', ...ENDS],
    sign_in_method_changed: [...OTHERS_END, 'trust'],
    first_app_set_up: ['browsers', ...OTHERS_END],
    disabled: ['links', ...ENDS],
  }

  for (const [event, expected] of Object.entries(cases)) {
    test(event, async () => assert.deepEqual(await endedBy(event as SecurityEvent), expected))
  }

  const GRANTS_END = ['password_reset', 'password_set', 'second_factor_reset', 'email_taken_back', 'email_undone']
  const ALSO = ['not_me', 'taken_over', 'disabled']
  for (const event of Object.keys(cases) as SecurityEvent[]) {
    test(`${event}: the grants of clients`, async () => {
      const expected = [...GRANTS_END, ...ALSO].includes(event) ? [`grants of ada but of none for ${event}`] : []
      const ofOwn = event === 'password_changed' ? ['grants of ada but of own for password_changed'] : expected
      assert.deepEqual(
        (await allEndedBy(event)).filter((call) => call.startsWith('grants')),
        ofOwn,
      )
    })
  }

  test('every event of the table is tested here', () =>
    assert.deepEqual(Object.keys(cases).sort(), Object.keys(SECURITY_EVENTS).sort()))

  test('an event that undoes something needs the time when that began', () =>
    assert.rejects(endedBy('email_undone', { sinceMs: undefined }), TypeError))

  test('connections stay, and passkeys go, where the operator asks for it', async () => {
    const kept = await endedBy('password_set', { keepsConnections: true })
    assert.deepEqual(kept, ['browsers', 'links', ...ENDS, 'wrong codes'])
    const reset = await endedBy('second_factor_reset', { removesPasskeys: true })
    assert.deepEqual(reset, ['browsers', 'codes from 0', 'links', 'passkeys from 0', ...ENDS])
  })
})

const recordsOf = async (event: SecurityEvent): Promise<string[]> => (await applied(event)).records

describe('the records of what ended', () => {
  test('each thing that went has one, with the event as its reason', async () =>
    assert.deepEqual(await recordsOf('taken_over'), [
      'identity.unlinked of ada, {"provider":"google","reason":"taken_over"}',
      'passkey.removed of ada, {"count":1,"reason":"taken_over"}',
      'second_factor.removed of ada, {"reason":"taken_over"}',
      'session.ended of ada, {"count":2,"reason":"taken_over"}',
    ]))

  test('an event that ends nothing has none', async () => assert.deepEqual(await recordsOf('email_changed'), []))

  test('an operator who resets second factors has recorded that', async () =>
    assert.deepEqual(await recordsOf('second_factor_reset'), [
      'session.ended of ada, {"count":2,"reason":"second_factor_reset"}',
    ]))
})

/** The rows of the table in docs/security.md, by the words for each event. */
const DOCUMENTED: Record<SecurityEvent, string> = {
  password_changed: 'password changed, or a first one set, while signed in',
  password_reset: 'password set by a link',
  password_set: 'password set by an operator',
  second_factor_reset: '`svc users reset-second-factor`',
  email_changed: 'email changed',
  email_taken_back: 'email set by an operator after a theft (`--stolen`)',
  email_undone: 'change of email undone',
  not_me: '"This wasn\'t me"',
  taken_over: 'unverified account taken over',
  sign_in_method_changed: 'provider or passkey added or removed, second factor set up or removed',
  first_app_set_up: 'authenticator app set up, where there was none',
  disabled: 'account disabled',
}

/** How a cell begins. */
const WORDS = {
  sessions: { end: 'all end', others_end: 'others end', stay: 'stay' },
  links: {
    die: 'die, but for undo',
    newer_die: 'die, but for older undo',
    all_die: 'all die',
    asked_die: 'die, but for undo and other notices',
    stay: 'stay',
  },
  browsers: { end: 'all end', trust_ends: 'trust ends', stay: 'stay' },
  connections: { go: 'go', newer_go: 'go, if newer', stay: 'stay' },
  passkeys: { go: 'go', newer_go: 'go, if newer', stay: 'stay' },
  codes: { go: 'go', newer_go: 'go, if newer', stay: 'stay' },
  grants: { end: 'all end', others_end: 'others end', stay: 'stay' },
}

test('docs/security.md has the same table', () => {
  const text = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
  const table = /^\| event \|.*\n.*\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  const rows = table.trim().split('\n')
  assert.equal(rows.length, Object.keys(SECURITY_EVENTS).length)
  const cellsOf = (event: string): string[] =>
    rows.map((row) => row.split('|').map((cell) => cell.trim())).find((cells) => cells[1] === event) ?? []
  for (const [event, effects] of Object.entries(SECURITY_EVENTS) as [
    SecurityEvent,
    (typeof SECURITY_EVENTS)[SecurityEvent],
  ][]) {
    // "As asked" is the change itself.
    const [, , ...cells] = cellsOf(DOCUMENTED[event]).map((cell) => cell.replace(/^as asked/, 'stay'))
    const expected = [
      WORDS.sessions[effects.sessions],
      WORDS.links[effects.links],
      WORDS.browsers[effects.browsers],
      WORDS.connections[effects.connections],
      WORDS.passkeys[effects.passkeys],
      WORDS.codes[effects.codes],
      WORDS.grants[effects.grants],
    ]
    for (const [column, words] of expected.entries()) assert.ok(cells[column]?.startsWith(words), `${event}: ${words}`)
  }
})
