// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import type { AuthorizationFlow, LinkRequest, PendingLink } from '../../src/oauth/authorization-flow.ts'
import { createPendingLinks } from '../../src/oauth/pending-link.ts'
import { createSealedTokens } from '../../src/lib/sealed-token.ts'
import { createAuthorizationFlows } from '../../src/oauth/state.ts'
import { createPendingSignIns, type PendingSignIn } from '../../src/sign-in/pending-sign-ins.ts'
import type { Queries } from '../../src/storage/database.ts'
import { freshDatabase } from '../storage/databases.ts'

// A user can set out on one version of svc and return to another, which must not misread what the other has sealed: where
// this test fails, VERSION in src/lib/sealed-token.ts goes up, and users who are under way begin again.

const T0 = 1_795_000_000_000
const browserSecret = 'B'.repeat(43)
const rootSecret = createRootSecret({ current: Buffer.alloc(32, 7) })
const clock = { now: () => T0 }
const lifetimeMs = 600_000
const { db } = await freshDatabase()
const signIns = createPendingSignIns({ db, clock, rootSecret, lockIdentity: async () => true })
const links = createPendingLinks({ db, clock, rootSecret, lifetimeMs })
const flows = createAuthorizationFlows({ db, clock, rootSecret })

const pendingLink: PendingLink = {
  id: '019aa000-0000-7000-8000-000000000002',
  profile: {
    provider: 'corp',
    issuer: 'https://id.corp.example',
    subject: 's',
    email: { shown: 'A@example.com', lower: 'a@example.com' },
    emailVerified: true,
    hostedDomain: 'example.com',
    name: 'Ann',
    signedInAtMs: T0 - 1000,
  },
  userId: '019aa000-0000-7000-8000-000000000003',
  profileFetchedAtMs: T0 - 2000,
}
const request: LinkRequest = { pendingLink, returnTo: '/x' }
const linkFlow: AuthorizationFlow = {
  id: '019aa000-0000-7000-8000-000000000001',
  startedAtMs: T0,
  provider: 'github',
  intent: 'sign_in',
  returnTo: '/x',
  userId: undefined,
  pendingLink,
}
const pending: PendingSignIn = {
  id: '019aa000-0000-7000-8000-000000000004',
  userId: pendingLink.userId,
  startedAtMs: T0,
  way: 'provider',
  method: 'corp',
  amr: ['fed'],
  authenticatedAtMs: T0 - 1000,
  provider: 'corp',
  identityId: '019aa000-0000-7000-8000-000000000005',
  passwordMark: 'mark',
  generation: 3,
  browser: 'announced',
  returnTo: '/x',
  connect: { provider: 'corp', linkRequest: 'sealed', browserSecret },
  confirms: '019aa000-0000-7000-8000-000000000006',
}

/** The content of a token, opened by the purpose alone. */
const contentOf = (token: string, purpose: string): unknown =>
  createSealedTokens({ rootSecret, clock, purpose, lifetimeMs }).open(token, browserSecret)?.content

describe('the content of sealed tokens is that of version 1', () => {
  test('of a flow', () => {
    const { state, flow } = flows.begin(linkFlow, browserSecret)
    assert.deepEqual(contentOf(state, 'oauth state'), {
      id: flow.id,
      startedAtMs: T0,
      provider: 'github',
      intent: 'sign_in',
      returnTo: '/x',
      pendingLink: {
        id: '019aa000-0000-7000-8000-000000000002',
        profile: {
          provider: 'corp',
          issuer: 'https://id.corp.example',
          subject: 's',
          email: { shown: 'A@example.com', lower: 'a@example.com' },
          emailVerified: true,
          hostedDomain: 'example.com',
          name: 'Ann',
          signedInAtMs: T0 - 1000,
        },
        userId: '019aa000-0000-7000-8000-000000000003',
        profileFetchedAtMs: T0 - 2000,
      },
    })
  })

  test('of a link request', () => {
    const token = links.sealLinkRequest(request, browserSecret)
    assert.deepEqual(contentOf(token, 'oauth pending identity'), { pendingLink, returnTo: '/x' })
  })

  test('of a sign-in that waits', () => {
    const token = signIns.seal(pending, browserSecret)
    assert.deepEqual(contentOf(token, 'pending sign-in'), {
      id: '019aa000-0000-7000-8000-000000000004',
      userId: '019aa000-0000-7000-8000-000000000003',
      startedAtMs: T0,
      way: 'provider',
      method: 'corp',
      amr: ['fed'],
      authenticatedAtMs: T0 - 1000,
      provider: 'corp',
      identityId: '019aa000-0000-7000-8000-000000000005',
      passwordMark: 'mark',
      generation: 3,
      browser: 'announced',
      returnTo: '/x',
      connect: { provider: 'corp', linkRequest: 'sealed', browserSecret },
      confirms: '019aa000-0000-7000-8000-000000000006',
    })
    assert.deepEqual(signIns.open(token, browserSecret), pending)
  })
})

test('the row of a pending link has the same hashes in every version', async () => {
  const deleted: unknown[][] = []
  const queries = { run: async (_sql: string, ...values: unknown[]) => deleted.push(values) } as unknown as Queries
  await links.consume(queries, pendingLink, browserSecret)
  assert.deepEqual(deleted, [
    [
      '019aa000-0000-7000-8000-000000000002',
      '019aa000-0000-7000-8000-000000000003',
      'QS3EbMnjyybyn3wUFcVWNJr2KQTF0VsKLYz9xc-iKzQ',
      '_bp9U0P6w4k8Qd-8FUNaDol9iCN_ypScRuSXbgSYKyU',
      T0,
    ],
  ])
})
