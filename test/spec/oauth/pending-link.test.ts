// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../../src/lib/derived-keys.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createSealedTokens } from '../../../src/lib/sealed-token.ts'
import { currentUser, logIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { rootSecret } from '../../support/database/database.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import {
  githubPersonWith,
  linkByPassword,
  reclaim,
  startLinkingService,
} from '../../support/provider/provider-accounts.ts'
import { assertNoSession, pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { deleteUser } from '../../support/service/operator-commands.ts'

const { corp, providers, service, database, newAgent, byCorp, byGithub, atLinkAccountPage, providersOf } =
  await startLinkingService()

describe('a link request belongs to one browser, and expires after ten minutes', () => {
  test('another browser cannot use it, with a cookie of its own or without one', async () => {
    const { person } = await signedUp(service)
    const { pending } = await atLinkAccountPage(person.email)
    const other = newAgent()
    assertNoSession(other, await linkByPassword(other, pending, person.password), 400)
    await startAt(other, 'corp')
    assertNoSession(other, await linkByPassword(other, pending, person.password), 400)
    assertNoSession(other, await reclaim(other, pending), 400)
    assertPage(await other.post('/auth/oauth/corp', { pending }), 400)
  })

  test('garbage, a changed or missing link request, and a state in its place are refused', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    const state = new URL(await startAt(agent, 'corp')).searchParams.get('state') ?? ''
    const changed = `${pending.slice(0, 40)}${pending[40] === 'A' ? 'B' : 'A'}${pending.slice(41)}`
    for (const bad of ['', 'garbage', changed, pending.slice(0, -1), state]) {
      assertNoSession(agent, await linkByPassword(agent, bad, person.password), 400)
      assertNoSession(agent, await reclaim(agent, bad), 400)
      assertPage(await agent.post('/auth/oauth/corp', { pending: bad }), 400)
    }
    const { password } = person
    assertNoSession(agent, await agent.post('/auth/oauth/corp/link', { password }), 400)
    assertErrorPage(await agent.post('/auth/oauth/corp/link', { pending: [pending, pending], password }), 400)
    const asState = await agent.get(`/auth/oauth/corp/callback?code=a&state=${pending}`)
    assertNoSession(agent, asState, 400)
  })

  test('no form of another provider accepts it, and nothing is linked', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const { agent, pending } = await atLinkAccountPage(person.email)
    for (const name of ['github', 'lab']) {
      const answers = [
        await linkByPassword(agent, pending, person.password, name),
        await reclaim(agent, pending, name),
        await agent.post(`/auth/oauth/${name}`, { pending }),
      ]
      for (const answer of answers) {
        assertNoSession(agent, answer, 400)
        assert.match(answer.text, /This link isn’t valid/)
        assert.doesNotMatch(answer.text, /name="pending"/, 'the next try begins from the start')
      }
    }
    assert.deepEqual(await providersOf(id), [])
    assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
  })

  test('another provider that can prove the account accepts it, and after the proof it is linked', async () => {
    const octo = githubPersonWith(newPerson().email)
    const [email = ''] = octo.emails.map((it) => it.email)
    const first = newAgent()
    assertRedirect(await signInBy(first, 'github', byGithub(octo)), '/')
    const { id } = await currentUser(first)
    const { agent, pending } = await atLinkAccountPage(email)
    assertNoSession(agent, await reclaim(agent, pending, 'github'), 400)
    assertNoSession(agent, await agent.post('/auth/oauth/corp', { pending }), 400)
    assertRedirect(await signInBy(agent, 'github', byGithub(octo), { pending }), '/kept')
    assert.equal((await currentUser(agent)).id, id)
    assert.deepEqual(await providersOf(id), ['github', 'corp'])
  })

  test('the browser’s cookie lasts as long as the page', async () => {
    const { person } = await signedUp(service)
    const { agent, page, pending } = await atLinkAccountPage(person.email)
    assert.equal(page.cookie('svc_oauth')?.attributes['max-age'], '600')
    assert.equal(page.cookie('svc_oauth')?.value, agent.cookies.get('svc_oauth'))
    assert.equal((await linkByPassword(agent, pending, 'wrong')).cookie('svc_oauth')?.attributes['max-age'], '600')
  })

  test('further tries do not make it last longer', async (t) => {
    const clock = turnedClock()
    const late = await startServiceWith(providers, { t, clock })
    const { person } = await signedUp(late)
    const agent = createUserAgent(late)
    const visitor = newOpenIdUser({ email: person.email })
    let pending = pendingOn(await signInBy(agent, 'corp', byCorp(visitor), { return_to: '/kept' }))
    for (const minute of [4, 9]) {
      await clock.turnTo(minute * 60_000)
      const refused = await linkByPassword(agent, pending, 'wrong')
      assertNoSession(agent, refused, 401)
      pending = pendingOn(refused)
    }
    await clock.turnTo(11 * 60_000)
    const answer = await linkByPassword(agent, pending, person.password)
    assertNoSession(agent, answer, 400)
    assert.match(answer.text, /took too long/)
  })

  test('a proof by a provider that ends after the link request has expired is too late', async (t) => {
    const clock = turnedClock()
    const late = await startServiceWith(providers, { t, clock })
    const { email } = newPerson()
    const octo = githubPersonWith(email)
    assertRedirect(await signInBy(createUserAgent(late), 'github', byGithub(octo)), '/')
    const agent = createUserAgent(late)
    const page = await signInBy(agent, 'corp', byCorp(newOpenIdUser({ email })), { return_to: '/kept' })
    await clock.turnTo(9 * 60_000)
    const callback = await byGithub(octo)(await startAt(agent, 'github', { pending: pendingOn(page) }))
    await clock.turnTo(11 * 60_000)
    const answer = await returnFromProvider(agent, callback)
    assertNoSession(agent, answer, 400)
    assert.match(answer.text, /took too long/)
  })

  test('proving the account twice, as by a double click, signs in twice and links once', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const { agent, pending } = await atLinkAccountPage(person.email)
    const answers = await Promise.all([1, 2].map(() => linkByPassword(agent.copy(), pending, person.password)))
    for (const answer of answers) assertRedirect(answer, '/kept')
    assert.deepEqual(await providersOf(id), ['corp'])
  })

  test('five browsers that prove one account at once all connect their provider', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const all = await Promise.all(Array.from({ length: 5 }, () => atLinkAccountPage(person.email)))
    const answers = await Promise.all(all.map(({ agent, pending }) => linkByPassword(agent, pending, person.password)))
    for (const answer of answers) assertRedirect(answer, '/kept')
    assert.equal((await providersOf(id)).length, 5)
  })

  test('wrong passwords count towards the limits of the login page', async (t) => {
    const started = await startServiceWith(providers, { t, env: { SVC_RATE_LIMIT: 'on' } })
    const limited = { ...started, headers: { 'x-forwarded-for': '198.51.100.7' } }
    const { person } = await signedUp(limited)
    const agent = createUserAgent(limited)
    const page = await signInBy(agent, 'corp', byCorp(newOpenIdUser({ email: person.email })))
    const pending = pendingOn(page)
    const guess = () => linkByPassword(agent, pending, 'wrong')
    let answer = await guess()
    for (let tries = 1; tries < 50 && answer.status === 401; tries += 1) answer = await guess()
    assertPage(answer, 429)
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    assertPage(await logIn(createUserAgent(limited), person), 429)
  })

  test('a password that was changed since proves nothing', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    const next = newPerson().password
    const change = { current_password: person.password, new_password: next }
    assertRedirect(await owner.post('/auth/account/password', change), '/auth/account?done=password')
    assertNoSession(agent, await linkByPassword(agent, pending, person.password), 401)
    assertRedirect(await linkByPassword(agent, pending, next), '/kept')
  })

  test('an account that was deleted since cannot be proved, nor can a later account with the same email', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    assertRedirect(await owner.post('/auth/account/delete', { password: person.password }), '/auth/login?done=deleted')
    assertNoSession(agent, await linkByPassword(agent, pending, person.password), 409)
    assertNoSession(agent, await reclaim(agent, pending), 409)
    await signedUp(service, person)
    assertNoSession(agent, await linkByPassword(agent, pending, person.password), 409)
    assertNoSession(agent, await reclaim(agent, pending), 409)
  })
})

const rowsOf = (userId: string) => database.rows('SELECT id FROM pending_links WHERE user_id = ?', userId)

/** A token that an attacker can create with the root secret, but without a row in the database. */
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

describe('a pending link rests on a row in the database', () => {
  test('with the root secret alone, an attacker neither takes over an account nor connects a provider to it', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    // Existing rows do not help: each belongs to one user, one browser and one provider account.
    const { agent, pending: genuine } = await atLinkAccountPage(person.email)
    const [row] = await rowsOf(userId)
    const other = newAgent()
    await startAt(other, 'corp')
    const profile = {
      provider: 'corp',
      issuer: corp.issuer,
      subject: 'attacker',
      email: { shown: person.email, lower: person.email.toLowerCase() },
      emailVerified: true,
      name: '',
    }
    for (const [browser, id] of [
      [other, ''],
      [other, randomUUIDv7()],
      [other, String(row?.id)],
      [agent, String(row?.id)],
    ] as const) {
      const pending = forge(browser, {
        pendingLink: { id, profile, userId, profileFetchedAtMs: Date.now() },
        returnTo: '/',
      })
      assertNoSession(browser, await reclaim(browser, pending), 400)
    }
    await assertSignedIn(owner)
    assert.deepEqual(await providersOf(userId), [])
    assertRedirect(await linkByPassword(agent, genuine, person.password), '/kept')
  })

  test('it is consumed: a provider that was connected by it and disconnected since is not connected again', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    const { agent, pending } = await atLinkAccountPage(person.email)
    assert.equal((await rowsOf(userId)).length, 1)
    assert.equal((await linkByPassword(agent, pending, 'a wrong password')).status, 401)
    assert.equal((await linkByPassword(agent, pending, 'another wrong password')).status, 401)
    assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
    assert.deepEqual(await rowsOf(userId), [])
    const sentAgain = createUserAgent(service, agent.cookies.copy())
    assertRedirect(await linkByPassword(sentAgain, pending, person.password), '/kept')
    await database.rows('DELETE FROM identities WHERE user_id = ?', userId)
    const later = newAgent()
    later.cookies.set('svc_oauth', agent.cookies.get('svc_oauth') ?? '', '/auth/oauth')
    assertNoSession(later, await linkByPassword(later, pending, person.password), 400)
    assert.deepEqual(await providersOf(userId), [])
  })

  test('of two that are open, each can be used; both are deleted with their user', async () => {
    const { agent: owner, person } = await signedUp(service)
    const { id: userId } = await currentUser(owner)
    const [first, second] = [await atLinkAccountPage(person.email), await atLinkAccountPage(person.email)]
    assert.equal((await rowsOf(userId)).length, 2)
    assertRedirect(await linkByPassword(second.agent, second.pending, person.password), '/kept')
    assertRedirect(await linkByPassword(first.agent, first.pending, person.password), '/kept')
    await atLinkAccountPage(person.email)
    assert.equal((await rowsOf(userId)).length, 1)
    await deleteUser(service, userId)
    assert.deepEqual(await rowsOf(userId), [])
  })
})
