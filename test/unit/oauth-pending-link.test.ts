// Runs once.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { type LinkRequest, createAuthorizationFlows } from '../../src/oauth/authorization-flow.ts'
import { createPendingLinks } from '../../src/oauth/pending-link.ts'
import { freshDatabase } from '../storage/databases.ts'

const T0 = 1_795_000_000_000
const MINUTE = 60_000
const rootSecret = createRootSecret({ current: Buffer.alloc(32, 7) })
const browserSecret = 'B'.repeat(43)
const { db } = await freshDatabase()

const linksAt = (atMs = T0) => createPendingLinks({ db, clock: { now: () => atMs }, rootSecret })

const request: LinkRequest = {
  pendingLink: {
    id: randomUUIDv7(),
    profile: {
      provider: 'corp',
      issuer: 'https://id.corp.example',
      subject: 's',
      email: { shown: 'A@example.com', lower: 'a@example.com' },
      emailVerified: true,
      hostedDomain: 'example.com',
      signedInAtMs: T0 - MINUTE,
      name: 'Ann',
    },
    userId: randomUUIDv7(),
    profileFetchedAtMs: T0,
  },
  returnTo: '/x',
}

describe('a sealed link request', () => {
  test('is read as it was sealed, for ten minutes, in the same browser', () => {
    const token = linksAt().sealLinkRequest(request, browserSecret)
    assert.deepEqual(linksAt(T0 + 10 * MINUTE - 1).readLinkRequest(token, browserSecret), { request })
    assert.deepEqual(linksAt(T0 + 10 * MINUTE).readLinkRequest(token, browserSecret), { problem: 'expired' })
    for (const other of [undefined, 'b'.repeat(43)]) {
      assert.deepEqual(linksAt().readLinkRequest(token, other), { problem: 'other_browser' })
    }
  })

  test('is unreadable for another provider than its own, also when it has expired', () => {
    const token = linksAt().sealLinkRequest(request, browserSecret)
    assert.deepEqual(linksAt().readLinkRequest(token, browserSecret, 'corp'), { request })
    for (const atMs of [T0, T0 + 10 * MINUTE]) {
      for (const other of ['another', '']) {
        assert.deepEqual(linksAt(atMs).readLinkRequest(token, browserSecret, other), { problem: 'unreadable' })
      }
    }
  })

  test('can be sealed again and again, and lasts no longer: the profile counts for ten minutes', () => {
    const again = linksAt(T0 + 9 * MINUTE).sealLinkRequest(request, browserSecret)
    const problemAt = (atMs: number) => linksAt(atMs).readLinkRequest(again, browserSecret).problem
    assert.equal(problemAt(T0 + 10 * MINUTE - 1), undefined)
    assert.equal(problemAt(T0 + 10 * MINUTE), 'expired')
  })

  test('is not read from a state, nor from anything else', () => {
    const flows = createAuthorizationFlows({ db, clock: { now: () => T0 }, rootSecret })
    const { state } = flows.begin({ provider: 'corp', intent: 'sign_in', ...request }, browserSecret)
    for (const text of [state, undefined, '', 'garbage']) {
      assert.deepEqual(linksAt().readLinkRequest(text, browserSecret), { problem: 'unreadable' })
    }
  })
})
