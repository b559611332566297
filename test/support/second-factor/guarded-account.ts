import assert from 'node:assert/strict'
import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import { insertClient } from '../../../src/clients/client-store.ts'
import { insertGrant } from '../../../src/clients/grant-store.ts'
import type { Core } from '../../../src/core.ts'
import { insertPasskey } from '../../../src/passkeys/passkey-store.ts'
import { currentUser, loggedIn, newPerson, type Person } from '../client/accounts.ts'
import { createUserAgent, type UserAgent } from '../client/user-agent.ts'
import type { OpenDatabase } from '../database/database.ts'
import type { Service } from '../service/service.ts'
import { codeAt } from './authenticator-app.ts'

const STEP_MS = 30_000

/** An authenticator app and recovery codes of an account. */
export interface SetUpApp {
  recoveryCodes: string[]
  /** The next code that is good: two in a row, each for half a minute at least. */
  nextCode(): string
}

/** Sets up codes for an account as its user does, in their session or without one. */
export const setUpApp = async (
  { secondFactors, db }: Core,
  { userId, email, sessionId }: { userId: string; email: string; sessionId?: string },
): Promise<SetUpApp> => {
  const owner = { userId, boundTo: 'a test' }
  const { secret, sealed } = await secondFactors.beginSetUp(owner, email)
  const { recoveryCodes, apply } = await secondFactors.checkSetUp(owner, { sealed, code: codeAt(secret, Date.now()) })
  await db.inTransaction((transaction) => apply(transaction, { sessionId }))
  // The code of the set-up counts as used, and so do earlier ones.
  await db.run('UPDATE one_time_codes SET last_used_step = 0 WHERE user_id = ?', userId)
  let used = 0
  return {
    recoveryCodes: recoveryCodes ?? [],
    nextCode: () => codeAt(secret, Date.now() + used++ * STEP_MS),
  }
}

/** Stores a passkey of an account; its key opens nothing. */
export const storePasskey = async ({ db }: Core, userId: string, name = 'Phone'): Promise<string> => {
  const id = randomUUIDv7()
  await insertPasskey(db, {
    id,
    userId,
    credentialId: randomBytes(16).toString('base64url'),
    publicKey: 'no key',
    name,
    aaguid: '00000000-0000-0000-0000-000000000000',
    transports: [],
    signCount: 0,
    isBackupEligible: true,
    isBackedUp: true,
    createdAtMs: Date.now(),
    lastUsedAtMs: undefined,
  })
  return id
}

/** An account with everything that an event can end, and an agent that is signed in with all of it. */
export interface GuardedAccount {
  id: string
  person: Person
  agent: UserAgent
  app: SetUpApp
  passkeyId: string
  identityId: string
  /** Another session of the user. */
  other: UserAgent
  /** Ids of live links. */
  links: Record<'verify' | 'sign_in' | 'undo', string>
  /** The hash of its secret, by which the account knows the browser of the agent. */
  browser: string
  signIns: number
  /** Ids of grants of a client: one lives by itself, two hang on the session of the agent and on the other one. */
  grants: Record<'free' | 'own' | 'others', string>
  /** When all of it was there. */
  completeAtMs: number
}

interface Deps {
  service: Service
  core: Core
  database: OpenDatabase
}

/** Stores a grant of a client, which hangs on a session or lives by itself. */
const storeGrant = async ({ db }: Core, userId: string, clientId: string, sessionId?: string): Promise<string> => {
  const [id, nowMs] = [randomUUIDv7(), Date.now()]
  await insertGrant(db, {
    id,
    userId,
    clientId,
    sessionId,
    salt: 'salt',
    generation: 1,
    replacedAtMs: [],
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
    expiresAtMs: nowMs + 3_600_000,
    absoluteExpiresAtMs: nowMs + 3_600_000,
    scopes: ['openid'],
    resource: undefined,
    authenticatedAtMs: nowMs,
    amr: ['pwd'],
  })
  return id
}

/** Stores a client of the operator's. */
const storeClient = async ({ db }: Core): Promise<string> => {
  const id = randomUUIDv7()
  await insertClient(db, {
    id,
    kind: 'operator',
    type: 'native',
    name: 'Phone',
    redirectUris: ['https://app.example.net/callback'],
    logoutUris: [],
    backchannelLogoutUri: undefined,
    scopes: undefined,
    resources: [],
    firstParty: false,
    requireMfa: false,
    createdAtMs: Date.now(),
    usedAtMs: undefined,
    disabledAtMs: undefined,
  })
  return id
}

/** A session that was started without a form, for its bearer to read the user. */
const bearer = async ({ service, core }: Deps, userId: string): Promise<UserAgent> => {
  const grant = { userId, authenticatedAtMs: Date.now(), amr: ['pwd'], isStillValid: async () => true } as const
  await core.signingKeys.reload()
  const device = { userAgent: 'Firefox', address: '127.0.0.1' }
  const tokens = await core.sessions.start(grant, { device }, { recogniseBrowser: async () => 'hash' })
  const agent = createUserAgent(service)
  agent.cookies.set('svc_access', tokens?.accessToken ?? '')
  return agent
}

export const guardedAccount = async (deps: Deps, { isVerified = true } = {}): Promise<GuardedAccount> => {
  const { service, core, database } = deps
  const { db } = core
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: isVerified })
  const agent = await loggedIn(service, person)
  const { sid: sessionId } = sessionOf(agent)
  const app = await setUpApp(core, { userId: id, email: person.email, sessionId })
  // The session that follows a set-up makes its browser known.
  const { secret } = await db.inTransaction((transaction) =>
    core.knownBrowsers.recordSignIn(transaction, id, agent.cookies.get('svc_device')),
  )
  agent.cookies.set('svc_device', secret, '/auth')
  await database.rows(`UPDATE sessions SET amr = 'pwd otp mfa' WHERE id = ?`, sessionId)
  const passkeyId = await storePasskey(core, id)
  const identityId = randomUUID()
  await database.rows(
    `INSERT INTO identities (id, user_id, provider, issuer, subject, email, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    identityId,
    id,
    'corp',
    'https://corp.example',
    id,
    person.email,
    Date.now(),
  )
  await database.rows('UPDATE known_browsers SET trusted_until = ? WHERE user_id = ?', Date.now() + 3_600_000, id)
  const createLink = async (purpose: keyof GuardedAccount['links']) => {
    const link = { purpose, userId: id, emailLower: person.email, lifetimeMs: 3_600_000 }
    return (await db.inTransaction((transaction) => core.links.issued.create(transaction, link))).link.id
  }
  const links = {
    verify: await createLink('verify'),
    sign_in: await createLink('sign_in'),
    undo: await createLink('undo'),
  }
  const other = await bearer(deps, id)
  assert.equal((await currentUser(agent)).id, id)
  const clientId = await storeClient(core)
  const grants = {
    free: await storeGrant(core, id, clientId),
    own: await storeGrant(core, id, clientId, sessionId),
    others: await storeGrant(core, id, clientId, sessionOf(other).sid),
  }
  const [known] = await database.rows('SELECT device_hash FROM known_browsers WHERE user_id = ?', id)
  const browser = String(known?.device_hash)
  const signIns = await generationOf(database, id)
  const ways = { app, passkeyId, identityId, links, browser, signIns, grants }
  return { id, person, agent, other, ...ways, completeAtMs: Date.now() }
}

const sessionOf = (agent: UserAgent): { sid: string } =>
  JSON.parse(Buffer.from(agent.cookies.get('svc_access')?.split('.')[1] ?? '', 'base64url').toString()) as {
    sid: string
  }

const generationOf = async (database: OpenDatabase, userId: string): Promise<number> => {
  const [user] = await database.rows('SELECT sign_in_generation FROM users WHERE id = ?', userId)
  return Number(user?.sign_in_generation)
}

/** What is left of each way into the account, in the words of the table in docs/security.md. */
export interface WaysLeft {
  sessions: 'stay' | 'others end' | 'all end'
  /** Sign-ins under way, which wait for a code. */
  signIns: 'stay' | 'end'
  links: 'stay' | 'die' | 'all die'
  browsers: 'stay' | 'trust ends' | 'all end'
  providers: 'stay' | 'go'
  passkeys: 'stay' | 'go'
  codes: 'stay' | 'go'
  recoveryCodes: 'stay' | 'go'
  grants: 'stay' | 'others end' | 'all end'
}

const isIn = async (agent: UserAgent): Promise<boolean> => (await agent.get('/auth/api/v1/user')).status === 200

/** Fails where a grant that hangs on a session outlives it, or ends without it while others stay. */
const grantsLeft = async (
  { database }: Deps,
  { id, grants: { free, own, others } }: GuardedAccount,
  live: { own: boolean; others: boolean },
): Promise<WaysLeft['grants']> => {
  const rows = await database.rows('SELECT id FROM grants WHERE user_id = ?', id)
  const left = new Set(rows.map((row) => row.id))
  if (left.size === 0) return 'all end'
  assert.deepEqual([left.has(own), left.has(others)], [live.own, live.others], 'grants that hang on sessions')
  return left.has(free) ? 'stay' : 'others end'
}

/** Looks what an event has left of a guarded account; fails where that is in no cell of the table. */
export const waysLeft = async (deps: Deps, account: GuardedAccount): Promise<WaysLeft> => {
  const { core, database } = deps
  const { id, agent, other, links, browser } = account
  const has = async (sql: string, ...values: string[]) => (await database.rows(sql, id, ...values)).length > 0
  const stayOrGo = async (sql: string, ...values: string[]) => ((await has(sql, ...values)) ? 'stay' : 'go')
  const [own, others] = [await isIn(agent), await isIn(other)]
  const isLive = (of: keyof typeof links) => core.links.issued.isLive(links[of])
  const [verify, signIn, undo] = [await isLive('verify'), await isLive('sign_in'), await isLive('undo')]
  const isKnown = await has('SELECT id FROM known_browsers WHERE user_id = ? AND device_hash = ?', browser)
  const isTrusted = await has('SELECT id FROM known_browsers WHERE user_id = ? AND trusted_until IS NOT NULL')
  assert.ok(own || !others, 'the session of the request outlives the others')
  assert.equal(signIn, verify, 'codes and links that sign in end with other links')
  assert.ok(undo || !verify, 'a link that undoes a change outlives others')
  return {
    sessions: others ? 'stay' : own ? 'others end' : 'all end',
    signIns: (await generationOf(database, id)) === account.signIns ? 'stay' : 'end',
    links: verify ? 'stay' : undo ? 'die' : 'all die',
    browsers: isTrusted ? 'stay' : isKnown ? 'trust ends' : 'all end',
    providers: await stayOrGo('SELECT id FROM identities WHERE user_id = ? AND id = ?', account.identityId),
    passkeys: await stayOrGo('SELECT id FROM passkeys WHERE user_id = ? AND id = ?', account.passkeyId),
    codes: await stayOrGo('SELECT user_id FROM one_time_codes WHERE user_id = ?'),
    recoveryCodes: await stayOrGo('SELECT id FROM recovery_codes WHERE user_id = ?'),
    grants: await grantsLeft(deps, account, { own, others }),
  }
}
