// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import type { AuthorizationFlow, LinkRequest, PendingLink } from '../../src/oauth/authorization-flow.ts'
import { createPendingLinks } from '../../src/oauth/pending-link.ts'
import { flowToSealed, linkRequestToSealed } from '../../src/oauth/sealed-content.ts'
import { createSealedTokens } from '../../src/lib/sealed-token.ts'
import { createAuthorizationFlows } from '../../src/oauth/state.ts'
import type { Queries } from '../../src/storage/database.ts'
import { freshDatabase } from '../storage/databases.ts'

// A user can set out on one version of svc and return to another: what one has sealed, the other must read.

const T0 = 1_795_000_000_000
const browserSecret = 'B'.repeat(43)
const rootSecret = createRootSecret({ current: Buffer.alloc(32, 7) })
const clock = { now: () => T0 }
const lifetimeMs = 600_000
const { db } = await freshDatabase()
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
const confirmFlow: AuthorizationFlow = {
  ...linkFlow,
  provider: 'corp',
  intent: 'confirm',
  returnTo: '/auth/account',
  userId: pendingLink.userId,
  pendingLink: undefined,
}

const sealedLink = {
  id: '019aa000-0000-7000-8000-000000000002',
  vouched: {
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
  vouchedAtMs: T0 - 2000,
}
const sealedFlow = {
  provider: 'github',
  intent: 'sign_in',
  target: '/x',
  pending: sealedLink,
  id: '019aa000-0000-7000-8000-000000000001',
  startedAtMs: T0,
}

/** As it is sealed: without what is undefined. */
const asJson = (content: unknown): unknown => JSON.parse(JSON.stringify(content))

/** The content of a token, opened by the purpose alone. */
const contentOf = (token: string, purpose: string): unknown =>
  createSealedTokens({ rootSecret, clock, purpose, lifetimeMs }).open(token, browserSecret)?.content

describe('the keys inside sealed tokens are persistent', () => {
  test('of a flow', () => {
    assert.deepEqual(asJson(flowToSealed(linkFlow)), sealedFlow)
    assert.deepEqual(asJson(flowToSealed(confirmFlow)), {
      provider: 'corp',
      intent: 'confirm',
      target: '/auth/account',
      userId: '019aa000-0000-7000-8000-000000000003',
      id: '019aa000-0000-7000-8000-000000000001',
      startedAtMs: T0,
    })
  })

  test('of a link request', () => {
    assert.deepEqual(asJson(linkRequestToSealed(request)), { ...sealedLink, target: '/x' })
  })

  test('they are what is in a state and on the "link account" page', () => {
    const { state, flow } = flows.begin(linkFlow, browserSecret)
    assert.deepEqual(contentOf(state, 'oauth state'), { ...sealedFlow, id: flow.id })
    const token = links.sealLinkRequest(request, browserSecret)
    assert.deepEqual(contentOf(token, 'oauth pending identity'), { ...sealedLink, target: '/x' })
  })
})

// Sealed by the first version, with the keys of the root secret above.
const EARLIER = {
  linkState:
    'DPMtBf58_NKKM-G1zkBZUs6f4_xUuUm6GzJJbyA5wBV_mELFJbNsF0dhhKGCV6IT27dRGKneQbQtZ0-iTSQAu9wIPNqDYVwLyD6cGrqkBHAiVBPw' +
    'MTmEvTSjS2l7eGNAcwT2leqg8gqGoDKuBKw1bAmLW2IYxr9AAgyofrZ2DY3bjTM6kSFIU7pW-RxLdsWUrAD-s9dli8FGMl7714FiUSxNoobwXyjA' +
    'VMndARzz6Cj0OdfuWENSPYu7s4lk4lgRXlFraVcbseYgjwF0UaK1hFXh-H9NXOYkgpbVsATMbcxuX2CG16U9V4LmTuvlf239wIHSEQ_0Rdv9ZjhW' +
    'ZesgtyOumUbGERBDB_WvOGG-So0ZAQ2xPJW0MQOKmNO_juCpS2TN-y27nqpP4bKubg_CZb-X4jXoFNv8wMQK6m_ur0lIhT7csAOUEficBZGe',
  confirmState:
    '9x-WiHeGt5ho0xHrTzUqfBzYzoRt4tXeZByDaVRxXk5qb2uTy-OUxz9_mOc9Ry0LROk9YTEJgg1_BBkDE8fxvReFhWE3WAia3KKSE4CNyfxKnmA0' +
    'gEA8K91WAQS98IqY3sIOs2AlEbCxe03oTaDbmjzVXH7hPLI5bMfCMD_Nr-Ti4-xCuZxkuF4HIzb4mUo1BvUg8VA_fQwMPVtAl6XW5OrcwyNKgzhC' +
    'VQwJnvGje1qr1oAie2ot6M3GsXp0FygEEnJF6ad4oBBdPuFJ2kIl7g',
  linkRequest:
    'aJCKbd0Qkdj_P7VkVUEDOUR-xpm9esBGS4l1Oez99Ofl6KEsp_RzTx0BV624KCkGjPkAdrrMJeVlG4oqhCCZsFiiHwYSUsguXlwboRjrofBgTTTg' +
    '369qDjHaIhnJzLOhyKqXgosjCtrGMlUsUqzt__CiybljFosXEZuPgc-FU2UEfVw1NZrjJzzADeEdJgIzb9G_PfTSlNiDljJ5fRDqrv8Tg_AJ5CF2' +
    'mqcQWYEpqnbV6NwHYCxWQ40vbGDUk6K30m0fMlGLhRKxxdq8Axz5__4p_SCxyOPI-ei467gsVTXpN9ntsA1PP3NRANyJQKH9ElM4ORLJOK4Kw9R5' +
    'aD54zfdYncFsWUwsRY0BDZmn_2Bt6MzkEBvsTwSf9RnIQ5TMxR5H7THnyOTZcjPo1Eo',
  linkRequestWithoutRow:
    'q4Ku3SVocksnV996fhT1foVsuzgGnR5GK4j38lOckWPU2tmRioB2MnhmOUgmGLXKlm4hnyPa-MsUn-CmT9tmhsvrG-WDNDMQjKhZQ9L6jnjyku84' +
    'gsdAEnChH6nqx15IoB3_SKqQM8trl4GDo8WAmJuN2c5aMSsWm31CJ4XBfxTCw3OL4rI1KmrZO-I2tpndDVe6BFCCkkIS_o7B3lhQM5qmrzP8XXh5' +
    'W3G3ZMAnM6XN59xwFWwNAzvUVV5ItNLK-VE6nnJdxn_hlH-oMGJdiImNzCAEjGcNWdrWsjTA5UhkIQHwArdBgyGa_lnQnIw5ZDLIuxK08HfgMhoy' +
    '-fJDDXkXqeQXZlu_QqU0dH5ENqo09ndZNH9GCGT3Hk4T_p3NBYvRfnWj7Q',
}

const readState = (state: string, provider: string) => flows.readState(state, provider, browserSecret)
const readLinkRequest = (token: string) => links.readLinkRequest(token, browserSecret, 'corp')

describe('tokens that an earlier version has sealed can be read', () => {
  test('a state', () => {
    assert.deepEqual(readState(EARLIER.linkState, 'github'), { flow: linkFlow, problem: undefined })
    assert.deepEqual(readState(EARLIER.confirmState, 'corp'), { flow: confirmFlow, problem: undefined })
  })

  test('a link request, also one from before there were rows', () => {
    assert.deepEqual(readLinkRequest(EARLIER.linkRequest), { request })
    assert.deepEqual(readLinkRequest(EARLIER.linkRequestWithoutRow), {
      request: { ...request, pendingLink: { ...pendingLink, id: undefined } },
    })
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
