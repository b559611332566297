import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createSealedTokens } from '../../src/oauth/sealed-token.ts'
import { assertRedirect, assertSignedIn } from '../support/assertions.ts'
import { openDatabase, rootSecret } from '../support/database.ts'
import { startOpenIdProvider } from '../support/openid-provider.ts'
import { newOpenIdPerson } from '../support/openid-provider-people.ts'
import { deleteUser } from '../support/operator.ts'
import { currentUser, signedUp } from '../support/people.ts'
import { assertNoSession, pendingOn, startServiceWith } from '../support/provider-service.ts'
import { signInBy, startAt } from '../support/provider-sign-in.ts'
import { createUserAgent, type UserAgent } from '../support/user-agent.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp })
const database = await openDatabase(service)

const link = (agent: UserAgent, pending: string, password: string) =>
  agent.post('/auth/oauth/corp/link', { pending, password })
const claim = (agent: UserAgent, pending: string) => agent.post('/auth/oauth/corp/claim', { pending })

const waitingFor = (userId: string) => database.rows('SELECT id FROM pending_links WHERE user_id = ?', userId)
const linkedTo = (userId: string) => database.rows('SELECT id FROM identities WHERE user_id = ?', userId)

/** At the page that asks for a proof of the account with this email. */
const atProof = async (email: string) => {
  const agent = createUserAgent(service)
  const page = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newOpenIdPerson({ email }) }), {})
  assert.equal(page.status, 409)
  return { agent, pending: pendingOn(page) }
}

/** What an attacker makes who has the root secret and no row in the database. */
const forge = (agent: UserAgent, content: unknown) => {
  const text = rootSecret(service)
  const current = Buffer.from(text, /^(?:[0-9a-f]{2}){32,}$/i.test(text) ? 'hex' : 'base64')
  return createSealedTokens<unknown>({
    rootSecret: createRootSecret({ current }),
    clock: systemClock,
    purpose: 'oauth pending identity',
    lifetimeMs: 600_000,
  }).seal(content, agent.cookies.get('svc_oauth') ?? '')
}

describe('what waits for a proof rests on a row in the database', () => {
  test('with the root secret alone, nobody takes over an account or connects a provider to it', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    // Rows that there are help nobody else: each is of one user, one browser and one account of a provider.
    const { agent, pending: genuine } = await atProof(person.email)
    const [row] = await waitingFor(userId)
    const other = createUserAgent(service)
    await startAt(other, 'corp')
    const vouched = {
      provider: 'corp',
      issuer: corp.issuer,
      subject: 'attacker',
      email: { shown: person.email, lower: person.email.toLowerCase() },
      emailVerified: true,
      name: '',
    }
    for (const [browser, id] of [
      [other, undefined],
      [other, randomUUIDv7()],
      [other, String(row?.id)],
      [agent, String(row?.id)],
    ] as const) {
      const pending = forge(browser, { id, vouched, userId, target: '/', vouchedAtMs: Date.now() })
      assertNoSession(browser, await claim(browser, pending), 400)
    }
    await assertSignedIn(owner)
    assert.deepEqual(await linkedTo(userId), [])
    assertRedirect(await link(agent, genuine, person.password), '/')
  })

  test('it is used once: what was connected by it and disconnected since is not connected again', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    const { agent, pending } = await atProof(person.email)
    assert.equal((await waitingFor(userId)).length, 1)
    assert.equal((await link(agent, pending, 'a wrong password')).status, 401)
    assert.equal((await link(agent, pending, 'another wrong password')).status, 401)
    assertRedirect(await link(agent, pending, person.password), '/')
    assert.deepEqual(await waitingFor(userId), [])
    const sentAgain = createUserAgent(service, agent.cookies.copy())
    assertRedirect(await link(sentAgain, pending, person.password), '/')
    await database.rows('DELETE FROM identities WHERE user_id = ?', userId)
    const later = createUserAgent(service)
    later.cookies.set('svc_oauth', agent.cookies.get('svc_oauth') ?? '', '/auth/oauth')
    assertNoSession(later, await link(later, pending, person.password), 400)
    assert.deepEqual(await linkedTo(userId), [])
  })

  test('of two that are open, each can be used; they go with their user', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    const [first, second] = [await atProof(person.email), await atProof(person.email)]
    assert.equal((await waitingFor(userId)).length, 2)
    assertRedirect(await link(second.agent, second.pending, person.password), '/')
    assertRedirect(await link(first.agent, first.pending, person.password), '/')
    await atProof(person.email)
    assert.equal((await waitingFor(userId)).length, 1)
    await deleteUser(service, userId)
    assert.deepEqual(await waitingFor(userId), [])
  })
})
