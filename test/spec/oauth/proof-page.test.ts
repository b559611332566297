// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { githubPersonWith, linkByPassword, startLinkingService } from '../../support/provider/provider-accounts.ts'
import { pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { startAt } from '../../support/provider/provider-sign-in.ts'
import { deleteUser } from '../../support/service/operator-commands.ts'

const { providers, service, database, newAgent, byCorp, byGithub, userOfCorp } = await startLinkingService()
const PAGE = '/auth/oauth/corp/link'

/** A new user of corp whose email an account has: the agent, and where the callback leads. */
const sentToProof = async (email: string, form = {}, agent = newAgent()): Promise<[UserAgent, string]> => {
  const { url } = await byCorp(newOpenIdUser({ email }))(await startAt(agent, 'corp', form))
  const { pathname, search } = new URL(url)
  const { status, location = '' } = await agent.get(pathname + search)
  assert.equal(status, 303)
  assert.ok(location.startsWith(`${PAGE}?pending=`), location)
  return [agent, location]
}

describe('§4.4 the page that asks for a proof has an address of its own', () => {
  test('it can be loaded again and again, and the form of any copy works', async () => {
    const { person } = await signedUp(service)
    const [agent, address] = await sentToProof(person.email, { return_to: '/kept' })
    const first = await agent.get(address)
    for (const page of [first, await agent.get(address)]) {
      assertPage(page, 409)
      assert.ok(page.text.includes(person.email))
      assert.equal(page.headers['referrer-policy'], 'strict-origin')
      assert.equal(page.headers['cache-control'], 'no-store')
    }
    const head = await agent.send({ method: 'HEAD', path: address })
    assert.deepEqual([head.status, head.text], [409, ''])
    assertPage(await linkByPassword(agent, pendingOn(first), 'not the password'), 401)
    assertPage(await agent.get(address), 409)
    assertRedirect(await linkByPassword(agent, pendingOn(first), person.password), '/kept')
  })

  test('it asks for what the account has: a connected provider, or the email alone', async () => {
    const email = `${newPerson().username}@example.com`
    await userOfCorp(newOpenIdUser({ email }))
    const agent = newAgent()
    const { url } = await byGithub(githubPersonWith(email))(await startAt(agent, 'github'))
    const { pathname, search } = new URL(url)
    const { location = '' } = await agent.get(pathname + search)
    for (const page of [await agent.get(location), await agent.get(location)]) {
      assertPage(page, 409)
      assert.match(page.text, /<form method="post" action="\/auth\/oauth\/corp">/)
    }
  })

  test('after the proof it leads on, or says that it was used', async () => {
    const { person } = await signedUp(service)
    const [agent, address] = await sentToProof(person.email, { return_to: '/kept' })
    assertRedirect(await linkByPassword(agent, pendingOn(await agent.get(address)), person.password), '/kept')
    assertRedirect(await agent.get(address), '/kept')
    await agent.post('/auth/logout')
    const answer = await agent.get(address)
    assertErrorPage(answer, 400)
    assert.ok(!answer.text.includes(person.email))
  })

  test('it opens in the browser of the sign-in alone', async () => {
    const { person } = await signedUp(service)
    const [, address] = await sentToProof(person.email)
    const other = newAgent()
    await startAt(other, 'corp')
    for (const visitor of [newAgent(), other]) {
      const answer = await visitor.get(address)
      assertErrorPage(answer, 400)
      assert.ok(!answer.text.includes(person.email))
      assert.equal(answer.cookie('svc_oauth'), undefined)
    }
  })

  test('nothing else opens it: garbage, a changed one, that of another provider, none, two', async () => {
    const { person } = await signedUp(service)
    const [agent, address] = await sentToProof(person.email)
    const pending = address.slice(address.indexOf('=') + 1)
    const state = new URL(await startAt(agent, 'corp')).searchParams.get('state') ?? ''
    for (const bad of ['', 'x', pending.slice(0, -2), pending.replace(/^.{40}/, 'A'.repeat(40)), state]) {
      assertErrorPage(await agent.get(`${PAGE}?pending=${bad}`), 400)
    }
    assertErrorPage(await agent.get(`/auth/oauth/github/link?pending=${pending}`), 400)
    assertErrorPage(await agent.get(`${PAGE}?pending=${pending}&pending=${pending}`), 400)
    assertRedirect(await agent.get(PAGE), '/auth/login')
  })

  test('it shows an account neither under a new email, nor once it is gone', async () => {
    const { person } = await signedUp(service)
    const [agent, address] = await sentToProof(person.email)
    const renamed = `renamed-${person.email}`
    await database.rows('UPDATE users SET email = ?, email_lower = ? WHERE email = ?', renamed, renamed, person.email)
    const answer = await agent.get(address)
    assertErrorPage(answer, 400)
    assert.ok(!answer.text.includes(renamed))
    await deleteUser(service, renamed)
    assertErrorPage(await agent.get(address), 400)
  })

  test('ten minutes after the sign-in it is over, however often it was loaded', async (t) => {
    const clock = turnedClock()
    const late = await startServiceWith(providers, { t, clock })
    const { person } = await signedUp(late)
    const [agent, address] = await sentToProof(person.email, {}, createUserAgent(late))
    await clock.turnTo(9 * 60_000)
    assertPage(await agent.get(address), 409)
    await clock.turnTo(11 * 60_000)
    const answer = await agent.get(address)
    assertErrorPage(answer, 400)
    assert.match(answer.text, /That took too long/)
    assert.ok(!answer.text.includes(person.email))
  })
})
