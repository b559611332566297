// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createCookieJar } from '../../support/client/cookie-jar.ts'
import type { Form, UserAgent } from '../../support/client/user-agent.ts'
import { newGitHubPerson } from '../../support/provider/github-server.ts'
import type { Claims } from '../../support/provider/misbehaving-provider-faults.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import {
  githubPersonWith,
  linkByPassword,
  reclaim,
  startLinkingService,
} from '../../support/provider/provider-accounts.ts'
import { pendingOn } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'

const {
  corp,
  github,
  lab,
  service,
  database,
  newAgent,
  byCorp,
  byGithub,
  userOfCorp,
  linkGithub,
  userOfBoth,
  atLinkAccountPage,
  identitiesOf,
  providersOf,
  ageSessions,
} = await startLinkingService()

const CONFIRM = '/auth/account/confirm'

/** A user of both providers who has not authenticated within the last ten minutes. */
const withStaleSession = async () => {
  const known = await userOfBoth()
  await ageSessions(known.user.id, 11)
  return known
}

describe('§4.3 changing how a user signs in requires re-authentication', () => {
  test('a session that authenticated more than 10 minutes ago is sent to confirm, and nothing is changed', async () => {
    const { agent, user } = await withStaleSession()
    const [first] = await identitiesOf(user.id)
    const requests: [string, Form][] = [
      ['/auth/oauth/github', { intent: 'link' }],
      ['/auth/account/identities', { identity_id: first?.id ?? '' }],
      ['/auth/account/password', { new_password: newPerson().password }],
      ['/auth/account/delete', {}],
    ]
    for (const [path, form] of requests) assertRedirect(await agent.post(path, form), CONFIRM)
    assert.deepEqual(await providersOf(user.id), ['corp', 'github'])
    const page = await agent.get('/auth/account')
    assert.match(page.text, /href="\/auth\/account\/confirm\?/)
    assert.doesNotMatch(page.text, /name="identity_id"|name="intent"|name="new_password"/)
    await assertSignedIn(agent)
  })

  test('one that authenticated 9 minutes ago is not; a refresh makes no session fresh', async () => {
    const { agent, user } = await userOfBoth()
    await ageSessions(user.id, 9)
    assert.match(await startAt(agent, 'github', { intent: 'link' }), /^http/)
    await ageSessions(user.id, 2)
    assert.equal((await agent.refresh()).status, 200)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('a link that began with a fresh session can end after the session is no longer fresh', async () => {
    const { agent, user } = await userOfCorp()
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    await ageSessions(user.id, 11)
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account?done=linked')
  })

  test('confirming by password starts a new session in place of the old one', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    await ageSessions(id, 11)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
    const page = await agent.get(CONFIRM)
    assertPage(page)
    assert.match(page.text, new RegExp(`<form method="post" action="${CONFIRM}"`))
    const before = agent.copy()
    for (const password of ['', 'wrong']) assertPage(await agent.post(CONFIRM, { password }), 401)
    await assertSignedIn(before)
    assertRedirect(await agent.post(CONFIRM, { password: person.password }), '/auth/account?done=confirmed')
    await assertSignedOut(before)
    assertRedirect(await linkGithub(agent), '/auth/account?done=linked')
  })

  test('confirming by a provider asks for a new sign-in there and starts a new session, which may make the change', async () => {
    const { agent, user, person } = await withStaleSession()
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

  test('a provider account of another person, known here or not, confirms nothing, and the session stays as it was', async () => {
    const { agent, user } = await withStaleSession()
    const { octo: other } = await userOfBoth()
    for (const wrong of [other, newGitHubPerson(), githubPersonWith(user.email)]) {
      const answer = await signInBy(agent, 'github', byGithub(wrong), { intent: 'confirm' })
      assertPage(answer, 403)
      assert.deepEqual(answer.setCookies, [])
    }
    assert.equal((await currentUser(agent)).id, user.id)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('opening the callback of a cancelled confirmation again does not say that it is done', async () => {
    const { agent } = await withStaleSession()
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'confirm' }), { answer: 'cancel' })
    assertPage(await returnFromProvider(agent, cancelled), 403)
    assertRedirect(await returnFromProvider(agent, cancelled), '/auth/account')
  })

  test('the password of another account confirms nothing', async () => {
    const { agent } = await signedUp(service)
    const { person: other } = await signedUp(service)
    assertPage(await agent.post(CONFIRM, { password: other.password, email: other.email }), 401)
  })

  test('a user who is not signed in is sent to log in', async () => {
    assertRedirect(await newAgent().get(CONFIRM), '/auth/login?return_to=%2Fauth%2Faccount')
    assertRedirect(await newAgent().post(CONFIRM, { password: 'x' }), '/auth/login?return_to=%2Fauth%2Faccount')
  })
})

const SECONDS = 1000
const MINUTES = 60 * SECONDS

/** When the user last authenticated, by their only session. */
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

/** A user of lab who signs in again, with these claims besides. */
const signedInAgainByLab = async (claims: Claims) => {
  const [first, agent] = [newAgent(), newAgent()]
  const person: Claims = { ...newOpenIdUser() }
  assertRedirect(await signInBy(first, 'lab', byLab(person)), '/')
  await first.post('/auth/logout')
  return { agent, answer: await signInBy(agent, 'lab', byLab({ ...person, ...claims })) }
}

describe('§4.3 only authentication makes a session fresh', () => {
  const proofs: Record<string, () => Promise<UserAgent>> = {
    'signing up with a password': async () => (await signedUp(service)).agent,
    'signing up with a provider': async () => (await userOfCorp()).agent,
    'the password': async () => {
      const { person, agent } = await signedUp(service)
      await agent.post('/auth/logout')
      return loggedIn(service, person)
    },
    'the password on the "link account" page': async () => {
      const { person, agent: owner } = await signedUp(service)
      const { agent, pending } = await atLinkAccountPage(person.email)
      await owner.post('/auth/logout')
      assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
      return agent
    },
    'a linked provider on the "link account" page': async () => {
      const { person, agent: owner } = await userOfCorp()
      const agent = newAgent()
      const page = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')))
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
      // By the time of the database's server, whose answer takes a moment to come.
      assert.ok(at >= before - SECONDS && at <= Date.now())
      assert.equal(await mayLink(agent), true)
    })
  }

  for (const name of ['corp', 'github'] as const) {
    test(`not by the button of ${name} when the provider knows the user and asks nothing`, async () => {
      const { agent, user, person, octo } = await withStaleSession()
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
        assert.match((await browser.get('/auth/account')).text, /href="\/auth\/account\/confirm\?/)
        await browser.post('/auth/logout')
      }
    })
  }

  test('nor by reclaiming an account, where the provider does not say when the user signed in', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    assertRedirect(await reclaim(agent, pending), '/kept')
    assert.equal(await authenticatedAtMs(agent), undefined)
    assert.equal(await mayLink(agent), false)
  })

  test('nor by a refresh', async () => {
    const { agent } = await signedInAgainByLab({})
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
    test(`by the time at which the user signed in at the provider: ${title}: ${expected}`, async () => {
      const auth_time = authTime()
      const { agent, answer } = await signedInAgainByLab({ auth_time })
      assertRedirect(answer, '/')
      const at = await authenticatedAtMs(agent)
      assert.ok(at === undefined || at <= Date.now(), 'it is not in the future')
      // PostgreSQL's clock is this machine's, and is asked a moment earlier.
      if (expected) assert.ok(Math.abs(Number(at) - Number(auth_time) * SECONDS) < 5 * SECONDS)
      assert.equal(await mayLink(agent), expected)
    })
  }

  test('a provider that sends fractions of seconds (RFC 7519 section 2) signs users in', async () => {
    const { agent, answer } = await signedInAgainByLab({ auth_time: Date.now() / SECONDS - 1.000_123 })
    assertRedirect(answer, '/')
    await assertSignedIn(agent)
    await authenticatedAtMs(agent)
  })

  // The library looks at the ID token alone.
  for (const auth_time of [-1e300, 1e300, 0.1, 'yesterday', null, {}]) {
    test(`an auth_time of ${JSON.stringify(auth_time)} from the userinfo endpoint is ignored`, async () => {
      const email = newOpenIdUser().email ?? ''
      lab.fault = { told: { idToken: { email: undefined }, userinfo: { email, auth_time } } }
      const { agent, answer } = await signedInAgainByLab({})
      lab.fault = {}
      assertRedirect(answer, '/')
      assert.equal(await mayLink(agent), false)
      await authenticatedAtMs(agent)
    })
  }
})
