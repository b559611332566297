import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import { accessToken, claimsOf } from '../support/access-tokens.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../support/assertions.ts'
import { createCookieJar } from '../support/cookie-jar.ts'
import { openDatabase } from '../support/database.ts'
import type { GitHubPerson } from '../support/github-server.ts'
import { newGitHubPerson, startGitHubServer } from '../support/github-server.ts'
import { startMisbehavingProvider } from '../support/misbehaving-provider.ts'
import type { Claims } from '../support/misbehaving-provider-faults.ts'
import { startOpenIdProvider } from '../support/openid-provider.ts'
import type { OpenIdPerson } from '../support/openid-provider-people.ts'
import { newOpenIdPerson } from '../support/openid-provider-people.ts'
import { createUser, deleteUser, disableUser, setRoles, showUser } from '../support/operator.ts'
import type { Person } from '../support/people.ts'
import { currentUser, loggedIn, logIn, newPerson, signedUp, signUp } from '../support/people.ts'
import { assertNoSession, pendingOn, startServiceWith, statusesOf } from '../support/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../support/provider-sign-in.ts'
import { turnedClock } from '../support/turned-clock.ts'
import type { Answer, Form, UserAgent } from '../support/user-agent.ts'
import { createUserAgent } from '../support/user-agent.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
/** Says what it is told to say of somebody. */
const lab = await startMisbehavingProvider()
const providers = { corp, github, lab }
const service = await startServiceWith(providers)
const database = await openDatabase(service)

const CONFIRM = '/auth/account/confirm'
const newAgent = () => createUserAgent(service)

const byCorp = (person: OpenIdPerson) => (url: string) => corp.visit(url, { person })
const byGithub = (person: GitHubPerson) => (url: string) => github.visit(url, { person })

const githubWith = (email: string): GitHubPerson =>
  newGitHubPerson({ emails: [{ email, primary: true, verified: true, visibility: null }] })

/** Somebody with an account by corp alone. */
const arrived = async (person: OpenIdPerson = newOpenIdPerson()) => {
  const agent = newAgent()
  assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
  return { agent, person, user: await currentUser(agent) }
}

/** Somebody with a password whose email corp has verified, at the page that asks for proof. */
const atProof = async (email: string, form: Form = { return_to: '/kept' }, person = newOpenIdPerson({ email })) => {
  const agent = newAgent()
  const page = await signInBy(agent, 'corp', byCorp(person), form)
  assertNoSession(agent, page, 409)
  return { agent, person, page, pending: pendingOn(page) }
}

const link = (agent: UserAgent, pending: string, password: string, name = 'corp') =>
  agent.post(`/auth/oauth/${name}/link`, { pending, password })
const claim = (agent: UserAgent, pending: string, name = 'corp') => agent.post(`/auth/oauth/${name}/claim`, { pending })

type Linked = { id: string; provider: string; email: string }

const identitiesOf = async (userId: string): Promise<Linked[]> => {
  const rows = await database.rows('SELECT id, provider, email FROM identities WHERE user_id = ? ORDER BY id', userId)
  return rows.map(({ id, provider, email }) => ({ id: String(id), provider: String(provider), email: String(email) }))
}

const namesOf = async (userId: string) => (await identitiesOf(userId)).map(({ provider }) => provider)

/** Makes all sessions of a user older by so many minutes. */
const age = (userId: string, minutes: number) =>
  database.rows(
    'UPDATE sessions SET authenticated_at = authenticated_at - ? WHERE user_id = ?',
    minutes * 60_000,
    userId,
  )

const linkTo = (agent: UserAgent, person: GitHubPerson = newGitHubPerson()) =>
  signInBy(agent, 'github', byGithub(person), { intent: 'link' })

/** An account by corp, with GitHub linked to it. */
const withBoth = async () => {
  const octo = newGitHubPerson()
  const { agent, person, user } = await arrived()
  assertRedirect(await linkTo(agent, octo), '/auth/account?done=linked')
  return { agent, person, user, octo }
}

const assertGetsIn = async (name: 'corp' | 'github', person: OpenIdPerson | GitHubPerson, userId: string) => {
  const agent = newAgent()
  const visit = 'user' in person ? byGithub(person) : byCorp(person)
  assertRedirect(await signInBy(agent, name, visit), '/')
  assert.equal((await currentUser(agent)).id, userId)
}

describe('if the email belongs to an existing account, it is never linked silently', () => {
  test('the person gets a page that explains why; there is no session and nothing is linked', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { page } = await atProof(person.email.toUpperCase())
    assert.match(page.text, new RegExp(`There is already an account with .*${person.email}`))
    assert.match(page.text, /action="\/auth\/oauth\/corp\/link"/)
    assert.deepEqual(await namesOf((await currentUser(owner)).id), [])
    await assertSignedIn(owner)
  })

  test('a wrong password is 401 and changes nothing; the right one links and signs in, return_to kept', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const { agent, person: visitor, pending } = await atProof(person.email)
    for (const password of ['', 'wrong', `${person.password} `]) {
      const refused = await link(agent, pending, password)
      assertNoSession(agent, refused, 401)
      pendingOn(refused)
      assert.doesNotMatch(refused.text, new RegExp(`value="${password || 'none'}"`))
    }
    assert.deepEqual(await namesOf(id), [])
    assertRedirect(await link(agent, pending, person.password), '/kept')
    assert.equal((await currentUser(agent)).id, id)
    assert.deepEqual(await namesOf(id), ['corp'])
    await assertSignedIn(owner)
    await assertGetsIn('corp', visitor, id)
    await assertCanLogIn(service, person)
  })

  test('it can be proven from the page of the wrong password, too', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    const again = pendingOn(await link(agent, pending, 'wrong'))
    assertRedirect(await link(agent, again, person.password), '/kept')
  })

  test('the password of another account proves nothing', async () => {
    const [{ person }, { person: attacker }] = [await signedUp(service), await signedUp(service)]
    const { agent, pending } = await atProof(person.email)
    assertNoSession(agent, await link(agent, pending, attacker.password), 401)
    const form = { pending, password: attacker.password, email: attacker.email }
    assertNoSession(agent, await agent.post('/auth/oauth/corp/link', form), 401)
  })

  test('by an already linked provider: linked and signed in, return_to kept', async () => {
    const { person, user } = await arrived()
    const octo = githubWith(person.email ?? '')
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(octo), { return_to: '/kept' })
    assertNoSession(agent, page, 409)
    assert.match(page.text, /action="\/auth\/oauth\/corp"/)
    assert.doesNotMatch(page.text, /oauth\/github\/(?:link|claim)"/)
    const answer = await signInBy(agent, 'corp', byCorp(person), { pending: pendingOn(page) })
    assertRedirect(answer, '/kept')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertGetsIn('github', octo, user.id)
    await assertGetsIn('corp', person, user.id)
  })

  test('also with the longest return_to', async () => {
    const { person } = await arrived()
    const agent = newAgent()
    const return_to = `/${'a'.repeat(2047)}`
    const page = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')), { return_to })
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { pending: pendingOn(page) }), return_to)
  })

  test('by a provider’s account of somebody else, known here or not: refused, nothing linked', async () => {
    const { person, user } = await arrived()
    const { person: other, user: otherUser } = await arrived()
    for (const wrong of [other, newOpenIdPerson(), newOpenIdPerson({ email: person.email ?? '' })]) {
      const agent = newAgent()
      const page = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')))
      const answer = await signInBy(agent, 'corp', byCorp(wrong), { pending: pendingOn(page) })
      assertNoSession(agent, answer, 403)
    }
    assert.deepEqual(await namesOf(user.id), ['corp'])
    assert.deepEqual(await namesOf(otherUser.id), ['corp'])
  })

  test('where neither is possible it says so', async () => {
    const { person, user } = await arrived()
    await database.rows(`UPDATE identities SET provider = 'former' WHERE user_id = ?`, user.id)
    const agent = newAgent()
    const answer = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')))
    assertNoSession(agent, answer, 409)
    assert.doesNotMatch(answer.text, /name="pending"/)
    assert.ok(answer.text.includes(` ${person.email},`), answer.text)
  })
})

/** Somebody with an account by corp has come by GitHub, and has set out for corp to prove that it is his. */
const provingByCorp = async () => {
  const { person, user } = await arrived()
  const octo = githubWith(person.email ?? '')
  const agent = newAgent()
  const page = await signInBy(agent, 'github', byGithub(octo), { return_to: '/kept' })
  const url = await startAt(agent, 'corp', { pending: pendingOn(page) })
  return { agent, person, user, octo, url }
}

describe('a proof by a linked provider', () => {
  test('asks the provider for a new sign-in', async () => {
    const { url } = await provingByCorp()
    const { prompt, max_age } = Object.fromEntries(new URL(url).searchParams)
    assert.deepEqual([prompt, max_age], ['login', '0'])
  })

  test('cancelled: trying again is to prove again, return_to kept', async () => {
    const { agent, person, user, octo, url } = await provingByCorp()
    const answer = await returnFromProvider(agent, await corp.visit(url, { answer: 'cancel' }))
    assertNoSession(agent, answer, 403)
    assert.match(answer.text, /<form method="post" action="\/auth\/oauth\/corp">/)
    const again = await startAt(agent, 'corp', { pending: pendingOn(answer) })
    assert.equal(new URL(again).searchParams.get('prompt'), 'login')
    assertRedirect(await returnFromProvider(agent, await byCorp(person)(again)), '/kept')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertGetsIn('github', octo, user.id)
  })

  test('when the provider is away, trying again is to prove again', async (t) => {
    const [here, away] = [await startOpenIdProvider({ t }), await startOpenIdProvider({ t })]
    const late = await startServiceWith({ here, away }, { t })
    const [person, visitor] = [newOpenIdPerson(), newOpenIdPerson()]
    const agent = createUserAgent(late)
    assertRedirect(await signInBy(agent, 'away', (url) => away.visit(url, { person })), '/')
    const { id } = await currentUser(agent)
    await late.restart()
    await away.stop()
    const comer = createUserAgent(late)
    const sameEmail = { ...visitor, email: person.email ?? '' }
    const page = await signInBy(comer, 'here', (url) => here.visit(url, { person: sameEmail }), { return_to: '/kept' })
    const answer = await comer.post('/auth/oauth/away', { pending: pendingOn(page) })
    assertNoSession(comer, answer, 503)
    await away.start()
    const form = { pending: pendingOn(answer) }
    assertRedirect(await signInBy(comer, 'away', (url) => away.visit(url, { person }), form), '/kept')
    assert.equal((await currentUser(comer)).id, id)
  })

  // Who has got hold of a state, from a log say, and who slips one to somebody else: what it carries stays locked.
  test('that was begun in another browser hands nothing to this one that could be used here', async () => {
    for (const cookie of ['none', 'own'] as const) {
      const { url, person, user } = await provingByCorp()
      const callback = await byCorp(person)(url)
      const other = newAgent()
      if (cookie === 'own') await startAt(other, 'corp')
      const answer = await returnFromProvider(other, callback)
      assertNoSession(other, answer, 400)
      assert.doesNotMatch(answer.text, /name="pending"/, `with a cookie: ${cookie}`)
      assert.deepEqual(await namesOf(user.id), ['corp'])
    }
  })

  test('that was slipped to the owner by who waits for it: trying again connects nothing', async () => {
    const { url: slipped, person, user, octo } = await provingByCorp()
    const callback = await byCorp(person)(slipped)
    const owner = newAgent()
    await startAt(owner, 'corp')
    const { text } = await returnFromProvider(owner, callback)
    const pending = /name="pending" value="([^"]+)"/.exec(text)?.[1]
    // As the browser does when the button of the page is pressed.
    await signInBy(owner, 'corp', byCorp(person), pending === undefined ? {} : { pending })
    assert.deepEqual(await namesOf(user.id), ['corp'], `${octo.user.login} is not connected`)
  })

  test('that cannot be begun for what waits is spoiled: trying again is not the same once more', async () => {
    const { person } = await arrived()
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')))
    const pending = pendingOn(page)
    const other = newAgent()
    for (const bad of ['garbage', pending]) {
      const answer = await other.post('/auth/oauth/corp', { pending: bad })
      assertNoSession(other, answer, 400)
      assert.doesNotMatch(answer.text, /name="pending"/)
    }
  })
})

describe('what waits for proof is of one browser, and for ten minutes', () => {
  test('another browser cannot use it, with a cookie of its own or none', async () => {
    const { person } = await signedUp(service)
    const { pending } = await atProof(person.email)
    const other = newAgent()
    assertNoSession(other, await link(other, pending, person.password), 400)
    await startAt(other, 'corp')
    assertNoSession(other, await link(other, pending, person.password), 400)
    assertNoSession(other, await claim(other, pending), 400)
    assertPage(await other.post('/auth/oauth/corp', { pending }), 400)
  })

  test('garbage, a changed one, none, and a state in its place', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    const state = new URL(await startAt(agent, 'corp')).searchParams.get('state') ?? ''
    const changed = `${pending.slice(0, 40)}${pending[40] === 'A' ? 'B' : 'A'}${pending.slice(41)}`
    for (const bad of ['', 'garbage', changed, pending.slice(0, -1), state]) {
      assertNoSession(agent, await link(agent, bad, person.password), 400)
      assertNoSession(agent, await claim(agent, bad), 400)
      assertPage(await agent.post('/auth/oauth/corp', { pending: bad }), 400)
    }
    const { password } = person
    assertNoSession(agent, await agent.post('/auth/oauth/corp/link', { password }), 400)
    assertErrorPage(await agent.post('/auth/oauth/corp/link', { pending: [pending, pending], password }), 400)
    const asState = await agent.get(`/auth/oauth/corp/callback?code=a&state=${pending}`)
    assertNoSession(agent, asState, 400)
  })

  test('of one provider at another: no form of the page takes it, and nothing is linked', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const { agent, pending } = await atProof(person.email)
    for (const name of ['github', 'lab']) {
      const answers = [
        await link(agent, pending, person.password, name),
        await claim(agent, pending, name),
        await agent.post(`/auth/oauth/${name}`, { pending }),
      ]
      for (const answer of answers) {
        assertNoSession(agent, answer, 400)
        assert.match(answer.text, /This address leads nowhere/)
        assert.doesNotMatch(answer.text, /name="pending"/, 'the next try begins from the start')
      }
    }
    assert.deepEqual(await namesOf(id), [])
    assertRedirect(await link(agent, pending, person.password), '/kept')
  })

  test('of one provider at another that can prove the account: sent there, and it is linked after the proof', async () => {
    const octo = githubWith(newPerson().email)
    const [email = ''] = octo.emails.map((it) => it.email)
    const first = newAgent()
    assertRedirect(await signInBy(first, 'github', byGithub(octo)), '/')
    const { id } = await currentUser(first)
    const { agent, pending } = await atProof(email)
    assertNoSession(agent, await claim(agent, pending, 'github'), 400)
    assertNoSession(agent, await agent.post('/auth/oauth/corp', { pending }), 400)
    assertRedirect(await signInBy(agent, 'github', byGithub(octo), { pending }), '/kept')
    assert.equal((await currentUser(agent)).id, id)
    assert.deepEqual(await namesOf(id), ['github', 'corp'])
  })

  test('the browser’s cookie lasts as long as the page', async () => {
    const { person } = await signedUp(service)
    const { agent, page, pending } = await atProof(person.email)
    assert.equal(page.cookie('svc_oauth')?.attributes['max-age'], '600')
    assert.equal(page.cookie('svc_oauth')?.value, agent.cookies.get('svc_oauth'))
    assert.equal((await link(agent, pending, 'wrong')).cookie('svc_oauth')?.attributes['max-age'], '600')
  })

  test('trying again and again does not make it last longer', async (t) => {
    const clock = turnedClock()
    const late = await startServiceWith(providers, { t, clock })
    const { person } = await signedUp(late)
    const agent = createUserAgent(late)
    const visitor = newOpenIdPerson({ email: person.email })
    let pending = pendingOn(await signInBy(agent, 'corp', byCorp(visitor), { return_to: '/kept' }))
    for (const minute of [4, 9]) {
      await clock.turnTo(minute * 60_000)
      const refused = await link(agent, pending, 'wrong')
      assertNoSession(agent, refused, 401)
      pending = pendingOn(refused)
    }
    await clock.turnTo(11 * 60_000)
    const answer = await link(agent, pending, person.password)
    assertNoSession(agent, answer, 400)
    assert.match(answer.text, /took too long/)
  })

  test('proving twice, as by a double click, signs in twice and links once', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    const answers = await Promise.all([1, 2].map(() => link(agent.copy(), pending, person.password)))
    for (const answer of answers) assertRedirect(answer, '/kept')
    assert.deepEqual(await namesOf((await currentUser(owner)).id), ['corp'])
  })

  test('five who prove one account at once all get in', async () => {
    const { person, agent: owner } = await signedUp(service)
    const all = await Promise.all(Array.from({ length: 5 }, () => atProof(person.email)))
    const answers = await Promise.all(all.map(({ agent, pending }) => link(agent, pending, person.password)))
    for (const answer of answers) assertRedirect(answer, '/kept')
    assert.equal((await namesOf((await currentUser(owner)).id)).length, 5)
  })

  test('guessing passwords here counts as it does at the login page', async (t) => {
    const limited = await startServiceWith(providers, { t, env: { SVC_RATE_LIMIT: 'on' } })
    const { person } = await signedUp(limited)
    const agent = createUserAgent(limited)
    const page = await signInBy(agent, 'corp', byCorp(newOpenIdPerson({ email: person.email })))
    const pending = pendingOn(page)
    const guess = () => link(agent, pending, 'wrong')
    let answer = await guess()
    for (let tries = 1; tries < 50 && answer.status === 401; tries += 1) answer = await guess()
    assertPage(answer, 429)
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    assertPage(await logIn(createUserAgent(limited), person), 429)
  })

  test('a password that was changed meanwhile proves nothing', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    const next = newPerson().password
    const change = { current_password: person.password, new_password: next }
    assertRedirect(await owner.post('/auth/account/password', change), '/auth/account?done=password')
    assertNoSession(agent, await link(agent, pending, person.password), 401)
    assertRedirect(await link(agent, pending, next), '/kept')
  })

  test('an account that is deleted meanwhile is proven by nobody, nor is the one that comes after', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    assertRedirect(await owner.post('/auth/account/delete', { password: person.password }), '/auth/login?done=deleted')
    assertNoSession(agent, await link(agent, pending, person.password), 409)
    assertNoSession(agent, await claim(agent, pending), 409)
    await signedUp(service, person)
    assertNoSession(agent, await link(agent, pending, person.password), 409)
    assertNoSession(agent, await claim(agent, pending), 409)
  })
})

/** Somebody has made an account with an address that is not his, and the owner comes by corp. */
const ambush = async () => {
  const { person: attacker, agent: atHome } = await signedUp(service)
  const user = await currentUser(atHome)
  return { attacker, atHome, user, come: () => atProof(attacker.email) }
}

/** Nothing that the attacker had opens anything any more. */
const assertOwned = async (owner: UserAgent, userId: string, attacker: Person, visitor: OpenIdPerson) => {
  assert.equal((await currentUser(owner)).id, userId)
  await assertCannotLogIn(service, attacker)
  assert.deepEqual(await namesOf(userId), ['corp'])
  await assertGetsIn('corp', visitor, userId)
}

describe('no unverified local account can be used to lie in wait for its owner (pre-hijacking)', () => {
  test('when the owner comes by a verified provider, an unproven password and its sessions fall', async () => {
    const { attacker, atHome, user, come } = await ambush()
    const [elsewhere, copied] = [await loggedIn(service, attacker), atHome.copy()]
    const { agent, page, pending, person } = await come()
    assert.match(page.text, /action="\/auth\/oauth\/corp\/claim"/)
    await assertSignedIn(atHome)
    assertRedirect(await claim(agent, pending), '/kept')
    for (const session of [atHome, elsewhere, copied]) await assertSignedOut(session)
    await assertOwned(agent, user.id, attacker, person)
    assert.deepEqual(await currentUser(agent), user, 'the application knows him by the same id')
  })

  test('roles that were given to it fall, too: neither the next access token nor GET /user has them', async () => {
    const { atHome, user, come } = await ambush()
    await setRoles(service, user.id, ['admin', 'editor'])
    assert.deepEqual((await currentUser(atHome)).roles, ['admin', 'editor'])
    const { agent, page, pending } = await come()
    assert.match(page.text, /roles[^<]*taken away/)
    assertRedirect(await claim(agent, pending), '/kept')
    assert.deepEqual((await currentUser(agent)).roles, [])
    assert.deepEqual(claimsOf(accessToken(agent)).roles, [])
    assert.deepEqual((await showUser(service, user.id)).roles, [])
  })

  test('roles stay with who proves the account instead of taking it over', async () => {
    const { person, agent: owner } = await signedUp(service)
    await setRoles(service, person.email, ['admin'])
    const { agent, pending } = await atProof(person.email)
    assertRedirect(await link(agent, pending, person.password), '/kept')
    assert.deepEqual((await currentUser(owner)).roles, ['admin'])
  })

  test('a provider that the attacker had linked falls, too', async () => {
    const { attacker, atHome, user, come } = await ambush()
    const octo = newGitHubPerson()
    assertRedirect(await linkTo(atHome, octo), '/auth/account?done=linked')
    const { agent, pending, person } = await come()
    assertRedirect(await claim(agent, pending), '/kept')
    await assertOwned(agent, user.id, attacker, person)
    const attackerAgain = newAgent()
    assertRedirect(await signInBy(attackerAgain, 'github', byGithub(octo)), '/')
    assert.notEqual((await currentUser(attackerAgain)).id, user.id)
  })

  test('a link, a confirmation and a proof that the attacker has under way come to nothing', async () => {
    const { attacker, atHome, user, come } = await ambush()
    const octo = newGitHubPerson()
    assertRedirect(await linkTo(atHome, octo), '/auth/account?done=linked')
    const linking = await byGithub(newGitHubPerson())(await startAt(atHome, 'github', { intent: 'link' }))
    const confirming = await byGithub(octo)(await startAt(atHome, 'github', { intent: 'confirm' }))
    const signingIn = newAgent()
    const way = await byGithub(octo)(await startAt(signingIn, 'github'))
    const { agent: proving, pending: theirs } = await come()

    const { agent, pending, person } = await come()
    assertRedirect(await claim(agent, pending), '/kept')
    assertNoSession(proving, await link(proving, theirs, attacker.password), 401)
    assertNoSession(proving, await claim(proving, theirs), 409)
    assertPage(await returnFromProvider(atHome, linking), 401)
    assertPage(await returnFromProvider(atHome, confirming), 401)
    assertRedirect(await returnFromProvider(signingIn, way), '/')
    assert.notEqual((await currentUser(signingIn)).id, user.id)
    await assertOwned(agent, user.id, attacker, person)
  })

  test('neither does what the attacker does at the same moment', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { attacker, atHome, user, come } = await ambush()
      const { agent, pending, person } = await come()
      const { agent: proving, pending: theirs } = await come()
      const late = newAgent()
      const linking = await byGithub(newGitHubPerson())(await startAt(atHome, 'github', { intent: 'link' }))
      const other = atHome.copy()
      const change = { current_password: attacker.password, new_password: `${attacker.password}!` }
      const [claimed] = await Promise.all([
        claim(agent, pending),
        logIn(late, attacker),
        returnFromProvider(atHome, linking),
        atHome.copy().refresh(),
        link(proving, theirs, attacker.password),
        other.post('/auth/account/password', change),
      ])
      assertRedirect(claimed, '/kept')
      const { rows } = database
      const left = await rows('SELECT id FROM sessions WHERE user_id = ?', user.id)
      assert.equal(left.length, 1, 'the owner’s session alone')
      for (const session of [late, atHome, proving, other]) await assertSignedOut(session)
      await assertOwned(agent, user.id, attacker, person)
      await assertCannotLogIn(service, { ...attacker, password: change.new_password })
    }
  })

  test('claiming twice, as by a double click: who is signed in by then is sent on, with no second session', async () => {
    const { come, user } = await ambush()
    const { agent, pending, page } = await come()
    assertPage(page, 409)
    assertRedirect(await claim(agent, pending), '/kept')
    const refresh = agent.cookies.get('svc_refresh')
    assertRedirect(await claim(agent, pending), '/kept')
    assert.equal(agent.cookies.get('svc_refresh'), refresh, 'it is the same session')
    assert.equal((await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)).length, 1)
  })

  test('claiming twice at once: one session; who is not signed in is told that it was used', async () => {
    const { come, user, attacker } = await ambush()
    const { agent, pending, person } = await come()
    const [one, other] = [agent.copy(), agent.copy()]
    const answers = await Promise.all([claim(one, pending), claim(other, pending)])
    assert.deepEqual(statusesOf(answers), [303, 400])
    assert.equal((await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)).length, 1)
    const late = await claim(agent, pending)
    assertNoSession(agent, late, 400)
    assert.match(late.text, /used already/)
    assert.ok(late.text.includes('name="return_to" value="/kept"'), late.text)
    await assertOwned(answers[0]?.status === 303 ? one : other, user.id, attacker, person)
  })

  test('not for somebody else’s provider account: one that was linked elsewhere meanwhile', async () => {
    const { attacker, atHome, come } = await ambush()
    const { agent, pending, person } = await come()
    const { agent: elsewhere } = await signedUp(service)
    const linked = await signInBy(elsewhere, 'corp', byCorp(person), { intent: 'link' })
    assertRedirect(linked, '/auth/account?done=linked')
    assertNoSession(agent, await link(agent, pending, attacker.password), 409)
    assertNoSession(agent, await claim(agent, pending), 409)
    await assertSignedIn(atHome)
    await assertCanLogIn(service, attacker)
  })

  test('an account made by the command line is not offered, and cannot be taken', async () => {
    const person = newPerson()
    await createUser(service, person)
    const { agent, page, pending } = await atProof(person.email)
    assert.doesNotMatch(page.text, /\/claim"/)
    assertNoSession(agent, await claim(agent, pending), 409)
    await assertCanLogIn(service, person)
  })

  test('nor one whose email a provider has verified before', async () => {
    const { person } = await arrived()
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')))
    assert.doesNotMatch(page.text, /\/claim"/)
    assertNoSession(agent, await claim(agent, pendingOn(page), 'github'), 409)
  })

  test('nor one that has been proven and linked by who owns the email', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atProof(person.email)
    assertRedirect(await link(agent, pending, person.password), '/kept')
    const later = await atProof(person.email)
    assert.doesNotMatch(later.page.text, /\/claim"/)
    assertNoSession(later.agent, await claim(later.agent, later.pending), 409)
    await assertCanLogIn(service, person)
  })

  test('linking a provider with another email does not make the address the attacker’s', async () => {
    const { atHome, come, attacker, user } = await ambush()
    assertRedirect(await linkTo(atHome), '/auth/account?done=linked')
    const { agent, pending, person } = await come()
    assertRedirect(await claim(agent, pending), '/kept')
    await assertOwned(agent, user.id, attacker, person)
  })

  test('nor does one with the address itself that his provider has not verified', async () => {
    const { atHome, come, attacker, user } = await ambush()
    const unverified = newOpenIdPerson({ email: attacker.email, email_verified: false })
    const linked = await signInBy(atHome, 'corp', byCorp(unverified), { intent: 'link' })
    assertRedirect(linked, '/auth/account?done=linked')
    const { agent, pending, person } = await come()
    assertRedirect(await claim(agent, pending), '/kept')
    await assertOwned(agent, user.id, attacker, person)
  })

  test('who knows the password may link instead, and everything stays', async () => {
    const { attacker, atHome, come } = await ambush()
    const { agent, pending } = await come()
    assertRedirect(await link(agent, pending, attacker.password), '/kept')
    await assertSignedIn(atHome)
    await assertCanLogIn(service, attacker)
  })

  test('whoever comes first by a provider is safe from a signup with his address', async () => {
    const { person } = await arrived()
    assertPage(await signUp(newAgent(), { ...newPerson(), email: person.email ?? '' }), 409)
  })
})

describe('account page: linked providers with link and unlink', () => {
  test('link with a fresh session, and then sign in by it', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const page = await agent.get('/auth/account')
    assert.match(page.text, /<form method="post" action="\/auth\/oauth\/github">[^]*?name="intent" value="link"/)
    const octo = newGitHubPerson()
    const refresh = agent.cookies.get('svc_refresh')
    assertRedirect(await linkTo(agent, octo), '/auth/account?done=linked')
    assert.equal(agent.cookies.get('svc_refresh'), refresh, 'it is the same session')
    const after = await agent.get('/auth/account?done=linked')
    assert.match(after.text, /Connected\./)
    assert.ok(after.text.includes(octo.emails[0]?.email ?? 'none'))
    assert.equal((await currentUser(agent)).email, person.email, 'the email here stays')
    await assertGetsIn('github', octo, id)
    await assertCanLogIn(service, person)
  })

  test('linking what is linked already is as good', async () => {
    const { agent, user, octo } = await withBoth()
    assertRedirect(await linkTo(agent, octo), '/auth/account?done=linked')
    assert.deepEqual(await namesOf(user.id), ['corp', 'github'])
  })

  test('an identity of somebody else is refused, and stays his', async () => {
    const { octo, user } = await withBoth()
    const { agent, person } = await signedUp(service)
    const answer = await linkTo(agent, octo)
    assertPage(answer, 409)
    assert.equal((await currentUser(agent)).email, person.email)
    await assertGetsIn('github', octo, user.id)
  })

  test('coming back to a link that failed does not say that it is linked', async () => {
    const { octo } = await withBoth()
    const { agent } = await signedUp(service)
    const callback = await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' }))
    assertPage(await returnFromProvider(agent, callback), 409)
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account')
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'link' }), { answer: 'cancel' })
    assertPage(await returnFromProvider(agent, cancelled), 403)
    assertRedirect(await returnFromProvider(agent, cancelled), '/auth/account')
    const good = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    assertRedirect(await returnFromProvider(agent, good), '/auth/account?done=linked')
    assertRedirect(await returnFromProvider(agent, good), '/auth/account')
  })

  test('when the provider is away, trying again is to link, or to confirm, again', async (t) => {
    const away = await startOpenIdProvider({ t })
    const late = await startServiceWith({ corp: away }, { t })
    await away.stop()
    const { agent } = await signedUp(late)
    for (const intent of ['link', 'confirm']) {
      const answer = await agent.post('/auth/oauth/corp', { intent })
      assertPage(answer, 503)
      assert.match(answer.text, new RegExp(`name="intent" value="${intent}"`))
    }
  })

  test('after a link that was cancelled, trying again is to link again', async () => {
    const { agent } = await signedUp(service)
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'link' }), { answer: 'cancel' })
    const answer = await returnFromProvider(agent, cancelled)
    assertPage(answer, 403)
    assert.match(answer.text, /name="intent" value="link"/)
  })

  test('an access token that has run out meanwhile is renewed on the way', async () => {
    const { agent, user } = await arrived()
    agent.cookies.delete('svc_access')
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    agent.cookies.delete('svc_access')
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account?done=linked')
    assert.equal((await currentUser(agent)).id, user.id)
  })

  test('two accounts that link one identity at once: one gets it', async () => {
    const octo = newGitHubPerson()
    const accounts = await Promise.all(Array.from({ length: 5 }, () => signedUp(service)))
    const answers = await Promise.all(accounts.map(({ agent }) => linkTo(agent, octo)))
    const statuses = statusesOf(answers)
    assert.deepEqual(statuses, [303, 409, 409, 409, 409])
  })

  test('who has logged out while at the provider links nothing; neither does who has come as somebody else', async () => {
    const { agent, person, user } = await arrived()
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    await agent.post('/auth/logout')
    assertNoSession(agent, await returnFromProvider(agent, callback), 401)

    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'confirm' }), '/auth/account?done=confirmed')
    const second = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    const stranger = newPerson()
    assertRedirect(await signUp(agent, stranger), '/')
    assertPage(await returnFromProvider(agent, second), 401)
    assert.deepEqual(await namesOf(user.id), ['corp'])
    assert.deepEqual(await namesOf((await currentUser(agent)).id), [])
  })

  test('a session that was replaced meanwhile is as good: it is the same person', async () => {
    const { agent, person, user } = await arrived()
    const [octo, cat] = [newGitHubPerson(), newGitHubPerson()]
    const [linking, confirming] = [
      await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' })),
      await byCorp(person)(await startAt(agent, 'corp', { intent: 'confirm' })),
    ]
    const before = agent.copy()
    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    await assertSignedOut(before)
    assertRedirect(await returnFromProvider(agent, linking), '/auth/account?done=linked')
    assertRedirect(await returnFromProvider(agent, confirming), '/auth/account?done=confirmed')
    const third = await byGithub(cat)(await startAt(agent, 'github', { intent: 'link' }))
    await agent.post('/auth/logout')
    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    assertRedirect(await returnFromProvider(agent, third), '/auth/account?done=linked')
    assert.deepEqual(await namesOf(user.id), ['corp', 'github', 'github'])
  })

  test('who is signed in as somebody else when he is back confirms nothing', async () => {
    const { agent, person } = await arrived()
    const callback = await byCorp(person)(await startAt(agent, 'corp', { intent: 'confirm' }))
    const { person: other, user } = await arrived()
    assertRedirect(await signInBy(agent, 'corp', byCorp(other)), '/')
    const answer = await returnFromProvider(agent, callback)
    assertPage(answer, 401)
    assert.deepEqual(answer.setCookies, [])
    assert.equal((await currentUser(agent)).id, user.id)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('who is disabled or deleted while at the provider links nothing', async () => {
    for (const command of [disableUser, deleteUser]) {
      const { agent, user } = await arrived()
      const octo = newGitHubPerson()
      const callback = await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' }))
      await command(service, user.id)
      assertNoSession(agent, await returnFromProvider(agent, callback), 401)
      assert.deepEqual(await database.rows('SELECT id FROM identities WHERE subject = ?', String(octo.user.id)), [])
    }
  })

  test('who is not signed in cannot begin it', async () => {
    for (const intent of ['link', 'confirm']) {
      const agent = newAgent()
      assertNoSession(agent, await agent.post('/auth/oauth/corp', { intent }), 401)
    }
  })

  test('unlink: it no longer lets anybody in, and every other session ends', async () => {
    const { agent, user, octo } = await withBoth()
    const elsewhere = newAgent()
    assertRedirect(await signInBy(elsewhere, 'github', byGithub(octo)), '/')
    const under = newAgent()
    const callback = await byGithub(octo)(await startAt(under, 'github'))
    const [, linked] = await identitiesOf(user.id)
    const page = await agent.get('/auth/account')
    assert.match(page.text, new RegExp(`name="identity_id" value="${linked?.id}"`))
    const form = { identity_id: linked?.id ?? '' }
    assertRedirect(await agent.post('/auth/account/identities', form), '/auth/account?done=unlinked')
    await assertSignedIn(agent)
    await assertSignedOut(elsewhere)
    assert.deepEqual(await namesOf(user.id), ['corp'])
    assertErrorPage(await agent.post('/auth/account/identities', form), 404)
    assertRedirect(await returnFromProvider(under, callback), '/')
    assert.notEqual((await currentUser(under)).id, user.id, 'he is somebody new')
  })

  test('who comes by it at the same moment has no session afterwards', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { agent, user, octo } = await withBoth()
      const [, linked] = await identitiesOf(user.id)
      const late = newAgent()
      const callback = await byGithub(octo)(await startAt(late, 'github'))
      const [unlinked] = await Promise.all([
        agent.post('/auth/account/identities', { identity_id: linked?.id ?? '' }),
        returnFromProvider(late, callback),
      ])
      assertRedirect(unlinked, '/auth/account?done=unlinked')
      const sessions = await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)
      assert.equal(sessions.length, 1)
      await assertSignedIn(agent)
    }
  })

  test('nobody can unlink what is somebody else’s', async () => {
    const { user } = await withBoth()
    const { agent } = await withBoth()
    for (const identity_id of [...(await identitiesOf(user.id)).map(({ id }) => id), randomUUID(), '']) {
      const answer = await agent.post('/auth/account/identities', { identity_id })
      assertErrorPage(answer, identity_id === '' ? 400 : 404)
    }
    assert.deepEqual(await namesOf(user.id), ['corp', 'github'])
  })

  test('the last way to sign in cannot be removed', async () => {
    const { agent, user, person } = await arrived()
    const page = await agent.get('/auth/account')
    assert.doesNotMatch(page.text, /name="identity_id"/)
    const [only] = await identitiesOf(user.id)
    assertPage(await agent.post('/auth/account/identities', { identity_id: only?.id ?? '' }), 409)
    await assertGetsIn('corp', person, user.id)
  })

  test('of two that are removed at once, one stays', async () => {
    const { agent, user } = await withBoth()
    const identities = await identitiesOf(user.id)
    const answers = await Promise.all(
      identities.map(({ id }) => agent.copy().post('/auth/account/identities', { identity_id: id })),
    )
    assert.deepEqual(statusesOf(answers), [303, 409])
    assert.equal((await identitiesOf(user.id)).length, 1)
  })

  test('a provider that is not configured any more is no way to sign in; with a password it can go', async () => {
    const { agent, user } = await withBoth()
    await database.rows(`UPDATE identities SET provider = 'former' WHERE user_id = ? AND provider = 'github'`, user.id)
    const [corps, former] = await identitiesOf(user.id)
    assert.match((await agent.get('/auth/account')).text, /Former/)
    assertPage(await agent.post('/auth/account/identities', { identity_id: corps?.id ?? '' }), 409)
    const gone = await agent.post('/auth/account/identities', { identity_id: former?.id ?? '' })
    assertRedirect(gone, '/auth/account?done=unlinked')
    const { password } = newPerson()
    const set = await agent.post('/auth/account/password', { new_password: password })
    assertRedirect(set, '/auth/account?done=password_set')
    const last = await agent.post('/auth/account/identities', { identity_id: corps?.id ?? '' })
    assertRedirect(last, '/auth/account?done=unlinked')
    await assertCanLogIn(service, { email: user.email, password, username: '' })
  })
})

const madeStale = async (known: Awaited<ReturnType<typeof withBoth>>) => {
  await age(known.user.id, 11)
  return known
}

describe('what changes how one signs in asks for a fresh sign-in', () => {
  test('a session begun 10 minutes ago is sent to confirm, and nothing is changed', async () => {
    const { agent, user } = await madeStale(await withBoth())
    const [first] = await identitiesOf(user.id)
    const requests: [string, Form][] = [
      ['/auth/oauth/github', { intent: 'link' }],
      ['/auth/account/identities', { identity_id: first?.id ?? '' }],
      ['/auth/account/password', { new_password: newPerson().password }],
      ['/auth/account/delete', {}],
    ]
    for (const [path, form] of requests) assertRedirect(await agent.post(path, form), CONFIRM)
    assert.deepEqual(await namesOf(user.id), ['corp', 'github'])
    const page = await agent.get('/auth/account')
    assert.match(page.text, /href="\/auth\/account\/confirm"/)
    assert.doesNotMatch(page.text, /name="identity_id"|name="intent"|name="new_password"/)
    await assertSignedIn(agent)
  })

  test('one begun 9 minutes ago is not; refreshing makes none fresh', async () => {
    const { agent, user } = await withBoth()
    await age(user.id, 9)
    assert.match(await startAt(agent, 'github', { intent: 'link' }), /^http/)
    await age(user.id, 2)
    assert.equal((await agent.refresh()).status, 200)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('a link that was begun fresh can be ended when the session no longer is', async () => {
    const { agent, user } = await arrived()
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    await age(user.id, 11)
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account?done=linked')
  })

  test('confirm by password: a new session in place of the old one', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    await age(id, 11)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
    const page = await agent.get(CONFIRM)
    assertPage(page)
    assert.match(page.text, new RegExp(`<form method="post" action="${CONFIRM}"`))
    const before = agent.copy()
    for (const password of ['', 'wrong']) assertPage(await agent.post(CONFIRM, { password }), 401)
    await assertSignedIn(before)
    assertRedirect(await agent.post(CONFIRM, { password: person.password }), '/auth/account?done=confirmed')
    await assertSignedOut(before)
    assertRedirect(await linkTo(agent), '/auth/account?done=linked')
  })

  test('confirm by a provider: signed in there anew, a new session, and then it may be done', async () => {
    const { agent, user, person } = await madeStale(await withBoth())
    const page = await agent.get(CONFIRM)
    assert.match(page.text, /action="\/auth\/oauth\/corp">[^]*?name="intent" value="confirm"/)
    const before = agent.copy()
    const url = await startAt(agent, 'corp', { intent: 'confirm' })
    const { prompt, max_age } = Object.fromEntries(new URL(url).searchParams)
    assert.deepEqual([prompt, max_age], ['login', '0'])
    assertRedirect(await returnFromProvider(agent, await byCorp(person)(url)), '/auth/account?done=confirmed')
    await assertSignedOut(before)
    assert.equal((await currentUser(agent)).id, user.id)
    assert.match(await startAt(agent, 'github', { intent: 'link' }), /^http/)
  })

  test('confirm by somebody else’s provider account, known or not: refused, the session untouched and still stale', async () => {
    const { agent, user } = await madeStale(await withBoth())
    const { octo: other } = await withBoth()
    for (const wrong of [other, newGitHubPerson(), githubWith(user.email)]) {
      const answer = await signInBy(agent, 'github', byGithub(wrong), { intent: 'confirm' })
      assertPage(answer, 403)
      assert.deepEqual(answer.setCookies, [])
    }
    assert.equal((await currentUser(agent)).id, user.id)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('a confirmation that was cancelled and is opened again does not say that it is done', async () => {
    const { agent } = await madeStale(await withBoth())
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'confirm' }), { answer: 'cancel' })
    assertPage(await returnFromProvider(agent, cancelled), 403)
    assertRedirect(await returnFromProvider(agent, cancelled), '/auth/account')
  })

  test('confirm by another account’s password is refused', async () => {
    const { agent } = await signedUp(service)
    const { person: other } = await signedUp(service)
    assertPage(await agent.post(CONFIRM, { password: other.password, email: other.email }), 401)
  })

  test('who is not signed in has nothing to confirm', async () => {
    assertRedirect(await newAgent().get(CONFIRM), '/auth/login?return_to=%2Fauth%2Faccount')
    assertRedirect(await newAgent().post(CONFIRM, { password: 'x' }), '/auth/login?return_to=%2Fauth%2Faccount')
  })
})

const SECONDS = 1000
const MINUTES = 60 * SECONDS

/** When the only session of the user of a browser says that he was last seen to prove who he is. */
const authenticatedAtMs = async (agent: UserAgent): Promise<number | undefined> => {
  const { id } = await currentUser(agent)
  const [session, ...others] = await database.rows('SELECT authenticated_at FROM sessions WHERE user_id = ?', id)
  assert.equal(others.length, 0)
  const at = session?.authenticated_at
  assert.ok(at === null || Number.isSafeInteger(Number(at)), `whole milliseconds: ${String(at)}`)
  return at === null ? undefined : Number(at)
}

const mayLink = async (agent: UserAgent): Promise<boolean> => {
  const { location } = await agent.post('/auth/oauth/github', { intent: 'link' })
  return location !== CONFIRM
}

const ago = (ms: number) => Math.floor((Date.now() - ms) / SECONDS)
const byLab = (person: Claims) => (url: string) => lab.visit(url, { person })

/** Somebody known by lab who signs in there again, which says these claims besides. */
const backByLab = async (claims: Claims) => {
  const [first, agent] = [newAgent(), newAgent()]
  const person: Claims = { ...newOpenIdPerson() }
  assertRedirect(await signInBy(first, 'lab', byLab(person)), '/')
  await first.post('/auth/logout')
  return { agent, answer: await signInBy(agent, 'lab', byLab({ ...person, ...claims })) }
}

describe('a session is fresh by a proof, and by nothing else', () => {
  const proofs: Record<string, () => Promise<UserAgent>> = {
    'an account that was just made by a password': async () => (await signedUp(service)).agent,
    'an account that was just made by a provider': async () => (await arrived()).agent,
    'the password': async () => {
      const { person, agent } = await signedUp(service)
      await agent.post('/auth/logout')
      return loggedIn(service, person)
    },
    'the password, to prove an account': async () => {
      const { person, agent: owner } = await signedUp(service)
      const { agent, pending } = await atProof(person.email)
      await owner.post('/auth/logout')
      assertRedirect(await link(agent, pending, person.password), '/kept')
      return agent
    },
    'a linked provider, to prove an account': async () => {
      const { person, agent: owner } = await arrived()
      const agent = newAgent()
      const page = await signInBy(agent, 'github', byGithub(githubWith(person.email ?? '')))
      await owner.post('/auth/logout')
      assertRedirect(await signInBy(agent, 'corp', byCorp(person), { pending: pendingOn(page) }), '/')
      return agent
    },
  }
  for (const [title, prove] of Object.entries(proofs)) {
    test(`by ${title}`, async () => {
      const before = Date.now()
      const agent = await prove()
      const at = (await authenticatedAtMs(agent)) ?? assert.fail('it is known')
      assert.ok(at >= before && at <= Date.now())
      assert.equal(await mayLink(agent), true)
    })
  }

  for (const name of ['corp', 'github'] as const) {
    test(`not by the plain button of ${name}, which knows him from before and asks him nothing`, async () => {
      const { agent, user, person, octo } = await madeStale(await withBoth())
      const jar = createCookieJar()
      const silently = (url: string) => corp.visit(url, { person, jar })
      const visit = name === 'corp' ? silently : byGithub(octo)
      for (const browser of [agent, newAgent(), agent]) {
        assertRedirect(await signInBy(browser, name, visit, { return_to: '/auth/account' }), '/auth/account')
        assert.equal((await currentUser(browser)).id, user.id)
        const [linked] = await identitiesOf(user.id)
        const requests: [string, Form][] = [
          ['/auth/oauth/github', { intent: 'link' }],
          ['/auth/account/identities', { identity_id: linked?.id ?? '' }],
          ['/auth/account/password', { new_password: newPerson().password }],
          ['/auth/account/delete', {}],
        ]
        for (const [path, form] of requests) assertRedirect(await browser.post(path, form), CONFIRM)
        assert.match((await browser.get('/auth/account')).text, /href="\/auth\/account\/confirm"/)
        await browser.post('/auth/logout')
      }
    })
  }

  test('nor by the claim of an account, where the provider does not say when he signed in', async () => {
    const { come } = await ambush()
    const { agent, pending } = await come()
    assertRedirect(await claim(agent, pending), '/kept')
    assert.equal(await authenticatedAtMs(agent), undefined)
    assert.equal(await mayLink(agent), false)
  })

  test('nor by a refresh', async () => {
    const { agent } = await backByLab({})
    assert.equal((await agent.refresh()).status, 200)
    assert.equal(await authenticatedAtMs(agent), undefined)
    assert.equal(await mayLink(agent), false)
  })

  const said: Record<string, [() => unknown, boolean]> = {
    'just now': [() => ago(0), true],
    '9 minutes ago': [() => ago(9 * MINUTES), true],
    '10 minutes ago': [() => ago(10 * MINUTES), false],
    yesterday: [() => ago(24 * 60 * MINUTES), false],
    'in 1970': [() => 0, false],
    'in an hour': [() => ago(-60 * MINUTES), false],
    'in a thousand years': [() => 32_500_000_000, false],
    'in milliseconds, by mistake': [() => Date.now(), false],
  }
  for (const [title, [authTime, expected]] of Object.entries(said)) {
    test(`by what a provider says of when he signed in there: ${title}: ${expected}`, async () => {
      const auth_time = authTime()
      const { agent, answer } = await backByLab({ auth_time })
      assertRedirect(answer, '/')
      const at = await authenticatedAtMs(agent)
      assert.ok(at === undefined || at <= Date.now(), 'nobody has signed in in the future')
      // PostgreSQL's clock is this machine's, and is asked a moment earlier.
      if (expected) assert.ok(Math.abs(Number(at) - Number(auth_time) * SECONDS) < 5 * SECONDS)
      assert.equal(await mayLink(agent), expected)
    })
  }

  test('a provider that counts in parts of seconds (RFC 7519 section 2) lets people in', async () => {
    const { agent, answer } = await backByLab({ auth_time: Date.now() / SECONDS - 1.000_123 })
    assertRedirect(answer, '/')
    await assertSignedIn(agent)
    await authenticatedAtMs(agent)
  })

  // The library looks at the ID token alone.
  for (const auth_time of [-1e300, 1e300, 0.1, 'yesterday', null, {}]) {
    test(`a time of ${JSON.stringify(auth_time)} at userinfo is no reason to fail, nor for freshness`, async () => {
      const email = newOpenIdPerson().email ?? ''
      lab.fault = { told: { idToken: { email: undefined }, userinfo: { email, auth_time } } }
      const { agent, answer } = await backByLab({})
      lab.fault = {}
      assertRedirect(answer, '/')
      assert.equal(await mayLink(agent), false)
      await authenticatedAtMs(agent)
    })
  }
})

describe('a user without a password can set one', () => {
  test('then it lets him in, and every other session ends', async () => {
    const { agent, user, person } = await arrived()
    const elsewhere = newAgent()
    assertRedirect(await signInBy(elsewhere, 'corp', byCorp(person)), '/')
    await assertCannotLogIn(service, { ...newPerson(), email: user.email })
    assert.match((await agent.get('/auth/account')).text, /Set a password/)
    const { password } = newPerson()
    for (const bad of ['short', 'password', user.email, `${user.username}1`, 'abcabcabc', 'localhost1']) {
      assertPage(await agent.post('/auth/account/password', { new_password: bad }), 422)
    }
    await assertSignedIn(elsewhere)
    const set = await agent.post('/auth/account/password', { new_password: password })
    assertRedirect(set, '/auth/account?done=password_set')
    await assertSignedIn(agent)
    await assertSignedOut(elsewhere)
    await assertCanLogIn(service, { email: user.email, password, username: '' })
    await assertGetsIn('corp', person, user.id)
  })

  test('once: after that it asks for the current one, fresh session or not', async () => {
    const { agent, user } = await arrived()
    const first = newPerson().password
    const second = newPerson().password
    const set = (form: Form) => agent.post('/auth/account/password', form)
    assertRedirect(await set({ new_password: first }), '/auth/account?done=password_set')
    assertPage(await set({ new_password: second }), 401)
    assertPage(await set({ new_password: second, current_password: '' }), 401)
    await age(user.id, 11)
    assertRedirect(await set({ new_password: second, current_password: first }), '/auth/account?done=password')
  })

  test('two who set one at once: one counts', async () => {
    const { agent, user } = await arrived()
    const passwords = [newPerson().password, newPerson().password]
    const answers = await Promise.all(
      passwords.map((new_password) => agent.copy().post('/auth/account/password', { new_password })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).filter((status) => status === 303),
      [303],
    )
    const counts = answers.findIndex(({ status }) => status === 303)
    await assertCanLogIn(service, { email: user.email, password: passwords[counts] ?? '', username: '' })
  })
})

const assertDeleted = (answer: Answer) => {
  assertRedirect(answer, '/auth/login?done=deleted')
  assert.deepEqual(answer.cleared.sort(), ['svc_access', 'svc_refresh'])
}

describe('deleting an account without a password asks for a fresh sign-in instead', () => {
  test('fresh: it is gone, with its identities, and the same person can sign up anew', async () => {
    const { agent, user, person } = await arrived()
    assertDeleted(await agent.post('/auth/account/delete'))
    await assertSignedOut(agent)
    assert.deepEqual(await identitiesOf(user.id), [])
    assert.notEqual((await arrived(person)).user.id, user.id)
  })

  test('stale: it stays until he has confirmed', async () => {
    const { agent, user, person } = await arrived()
    await age(user.id, 11)
    assertRedirect(await agent.post('/auth/account/delete'), CONFIRM)
    assertRedirect(await agent.post('/auth/account/delete', { password: '' }), CONFIRM)
    await assertSignedIn(agent)
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'confirm' }), '/auth/account?done=confirmed')
    assertDeleted(await agent.post('/auth/account/delete'))
  })

  test('with a password it asks for that, as before, however fresh the session', async () => {
    const { agent, person } = await signedUp(service)
    assertRedirect(await linkTo(agent), '/auth/account?done=linked')
    for (const form of [{}, { password: '' }, { password: 'wrong' }]) {
      assertPage(await agent.post('/auth/account/delete', form), 401)
    }
    await age((await currentUser(agent)).id, 60)
    assertDeleted(await agent.post('/auth/account/delete', { password: person.password }))
  })
})

test('without providers the account page is as it was, and nothing of providers is there', async (t: TestContext) => {
  const bare = await startServiceWith({}, { t, env: { SVC_OAUTH_PROVIDERS: undefined } })
  const { agent } = await signedUp(bare)
  const page = await agent.get('/auth/account')
  assertPage(page)
  assert.doesNotMatch(page.text, /Ways to log in|oauth/)
  assertErrorPage(await agent.post('/auth/oauth/corp'), 404)
  assertPage(await agent.get(CONFIRM))
})
