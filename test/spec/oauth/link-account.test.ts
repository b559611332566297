// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { githubPersonWith, linkByPassword, startLinkingService } from '../../support/provider/provider-accounts.ts'
import { assertNoSession, pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'

const {
  corp,
  service,
  database,
  newAgent,
  byCorp,
  byGithub,
  userOfCorp,
  atLinkAccountPage,
  providersOf,
  assertSignsIn,
} = await startLinkingService()

describe('§4.3 an email of an existing account never links silently', () => {
  test('the user gets a page that explains why; there is no session and nothing is linked', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { page } = await atLinkAccountPage(person.email.toUpperCase())
    assert.match(page.text, new RegExp(`<b>${person.email}</b> already has an account\\.`))
    assert.match(page.text, /action="\/auth\/oauth\/corp\/link"/)
    assert.deepEqual(await providersOf((await currentUser(owner)).id), [])
    await assertSignedIn(owner)
  })

  test('a wrong password is 401 and changes nothing; the right one links and signs in, return_to kept', async () => {
    const { person, agent: owner } = await signedUp(service)
    const { id } = await currentUser(owner)
    const { agent, person: visitor, pending } = await atLinkAccountPage(person.email)
    for (const password of ['', 'wrong', `${person.password} `]) {
      const refused = await linkByPassword(agent, pending, password)
      assertNoSession(agent, refused, 401)
      pendingOn(refused)
      assert.doesNotMatch(refused.text, new RegExp(`value="${password || 'none'}"`))
    }
    assert.deepEqual(await providersOf(id), [])
    assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
    assert.equal((await currentUser(agent)).id, id)
    assert.deepEqual(await providersOf(id), ['corp'])
    await assertSignedOut(owner)
    await assertSignsIn('corp', visitor, id)
    await assertCanLogIn(service, person)
  })

  test('the page after a wrong password works too', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    const again = pendingOn(await linkByPassword(agent, pending, 'wrong'))
    assertRedirect(await linkByPassword(agent, again, person.password), '/kept')
  })

  test('the password of another account proves nothing', async () => {
    const [{ person }, { person: attacker }] = [await signedUp(service), await signedUp(service)]
    const { agent, pending } = await atLinkAccountPage(person.email)
    assertNoSession(agent, await linkByPassword(agent, pending, attacker.password), 401)
    const form = { pending, password: attacker.password, email: attacker.email }
    assertNoSession(agent, await agent.post('/auth/oauth/corp/link', form), 401)
  })

  test('proof by an already linked provider links and signs in, return_to kept', async () => {
    const { person, user } = await userOfCorp()
    const octo = githubPersonWith(person.email ?? '')
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(octo), { return_to: '/kept' })
    assertNoSession(agent, page, 409)
    assert.match(page.text, /action="\/auth\/oauth\/corp"/)
    assert.doesNotMatch(page.text, /oauth\/github\/(?:link|claim)"/)
    const answer = await signInBy(agent, 'corp', byCorp(person), { pending: pendingOn(page) })
    assertRedirect(answer, '/kept')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertSignsIn('github', octo, user.id)
    await assertSignsIn('corp', person, user.id)
  })

  test('the same with the longest return_to', async () => {
    const { person } = await userOfCorp()
    const agent = newAgent()
    const return_to = `/${'a'.repeat(2047)}`
    const page = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')), { return_to })
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { pending: pendingOn(page) }), return_to)
  })

  test('proof by a provider account of another person, known here or not, is refused, and nothing is linked', async () => {
    const { person, user } = await userOfCorp()
    const { person: other, user: otherUser } = await userOfCorp()
    for (const wrong of [other, newOpenIdUser(), newOpenIdUser({ email: person.email ?? '' })]) {
      const agent = newAgent()
      const page = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')))
      const answer = await signInBy(agent, 'corp', byCorp(wrong), { pending: pendingOn(page) })
      assertNoSession(agent, answer, 403)
    }
    assert.deepEqual(await providersOf(user.id), ['corp'])
    assert.deepEqual(await providersOf(otherUser.id), ['corp'])
  })

  test('where the account has neither a password nor a configured provider, the page says so', async () => {
    const { person, user } = await userOfCorp()
    await database.rows(`UPDATE identities SET provider = 'former' WHERE user_id = ?`, user.id)
    const agent = newAgent()
    const answer = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')))
    assertNoSession(agent, answer, 409)
    assert.doesNotMatch(answer.text, /name="pending"/)
    assert.ok(answer.text.includes(`<b>${person.email}</b>`), answer.text)
  })
})

/** A user of corp who comes from GitHub for the first time, and goes to corp to prove that the account is theirs. */
const provingByCorp = async () => {
  const { person, user } = await userOfCorp()
  const octo = githubPersonWith(person.email ?? '')
  const agent = newAgent()
  const page = await signInBy(agent, 'github', byGithub(octo), { return_to: '/kept' })
  const url = await startAt(agent, 'corp', { pending: pendingOn(page) })
  return { agent, person, user, octo, url }
}

describe('§4.3 proof by a linked provider', () => {
  test('asks the user to sign in at the provider again', async () => {
    const { url } = await provingByCorp()
    const { prompt, max_age } = Object.fromEntries(new URL(url).searchParams)
    assert.deepEqual([prompt, max_age], ['login', '0'])
  })

  test('cancelled: the next try is a proof again, return_to kept', async () => {
    const { agent, person, user, octo, url } = await provingByCorp()
    const answer = await returnFromProvider(agent, await corp.visit(url, { answer: 'cancel' }))
    assertNoSession(agent, answer, 403)
    assert.match(answer.text, /<form method="post" action="\/auth\/oauth\/corp">/)
    const again = await startAt(agent, 'corp', { pending: pendingOn(answer) })
    assert.equal(new URL(again).searchParams.get('prompt'), 'login')
    assertRedirect(await returnFromProvider(agent, await byCorp(person)(again)), '/kept')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertSignsIn('github', octo, user.id)
  })

  test('when the provider does not answer, the next try is a proof again', async (t) => {
    const [here, away] = [await startOpenIdProvider({ t }), await startOpenIdProvider({ t })]
    const late = await startServiceWith({ here, away }, { t })
    const [person, newcomer] = [newOpenIdUser(), newOpenIdUser()]
    const agent = createUserAgent(late)
    assertRedirect(await signInBy(agent, 'away', (url) => away.visit(url, { person })), '/')
    const { id } = await currentUser(agent)
    await late.restart()
    await away.stop()
    const visitor = createUserAgent(late)
    const sameEmail = { ...newcomer, email: person.email ?? '' }
    const page = await signInBy(visitor, 'here', (url) => here.visit(url, { person: sameEmail }), {
      return_to: '/kept',
    })
    const answer = await visitor.post('/auth/oauth/away', { pending: pendingOn(page) })
    assertNoSession(visitor, answer, 503)
    await away.start()
    const form = { pending: pendingOn(answer) }
    assertRedirect(await signInBy(visitor, 'away', (url) => away.visit(url, { person }), form), '/kept')
    assert.equal((await currentUser(visitor)).id, id)
  })

  // An attacker may find a state, in a log for example, or pass one to another user: its content stays sealed.
  test('that began in another browser gives this one nothing that it could use', async () => {
    for (const cookie of ['none', 'own'] as const) {
      const { url, person, user } = await provingByCorp()
      const callback = await byCorp(person)(url)
      const other = newAgent()
      if (cookie === 'own') await startAt(other, 'corp')
      const answer = await returnFromProvider(other, callback)
      assertNoSession(other, answer, 400)
      assert.doesNotMatch(answer.text, /name="pending"/, `with a cookie: ${cookie}`)
      assert.deepEqual(await providersOf(user.id), ['corp'])
    }
  })

  test('that an attacker passes to the owner: the next try connects nothing', async () => {
    const { url: slipped, person, user, octo } = await provingByCorp()
    const callback = await byCorp(person)(slipped)
    const owner = newAgent()
    await startAt(owner, 'corp')
    const { text } = await returnFromProvider(owner, callback)
    const pending = /name="pending" value="([^"]+)"/.exec(text)?.[1]
    // The request that the browser sends when the user presses the button of the page.
    await signInBy(owner, 'corp', byCorp(person), pending === undefined ? {} : { pending })
    assert.deepEqual(await providersOf(user.id), ['corp'], `${octo.user.login} is not connected`)
  })

  test('that cannot begin, because the link request is invalid: the page does not offer the same request again', async () => {
    const { person } = await userOfCorp()
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')))
    const pending = pendingOn(page)
    const other = newAgent()
    for (const bad of ['garbage', pending]) {
      const answer = await other.post('/auth/oauth/corp', { pending: bad })
      assertNoSession(other, answer, 400)
      assert.doesNotMatch(answer.text, /name="pending"/)
    }
  })
})
