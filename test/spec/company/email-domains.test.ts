// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson, type Person, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { createUser } from '../../support/service/operator-commands.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp }, { env: { SVC_EMAIL_DOMAINS: 'Corp.example, sub.staff.example' } })

const personAt = (domain: string): Person => ({ ...newPerson(), email: `p${randomUUID().slice(0, 8)}@${domain}` })

const byCorp = async (person: OpenIdUser) => {
  const agent = newAgent(service)
  return { agent, answer: await signInBy(agent, 'corp', (url) => corp.visit(url, { person }), { return_to: '/kept' }) }
}

const ACCEPTED = ['corp.example', 'CORP.Example', 'sub.staff.example']
const REFUSED = [
  'example.com',
  'staff.example',
  'x.corp.example',
  'xcorp.example',
  'corp.example.com',
  'corp-example',
  'example',
]

test('`SVC_EMAIL_DOMAINS`: signup accepts exactly these domains, and the page names them', async () => {
  const page = await newAgent(service).get('/auth/signup')
  assert.match(page.text, /Use an address at corp\.example or sub\.staff\.example\./)
  for (const domain of ACCEPTED) assertRedirect(await signUp(newAgent(service), personAt(domain)), '/')
  for (const domain of REFUSED) {
    const person = personAt(domain)
    const answer = await signUp(newAgent(service), person)
    assertPage(answer, 422)
    assert.ok(answer.text.includes(person.email), 'what was typed is kept')
    if (!domain.includes('.')) continue
    assert.match(answer.text, /id="email-problem">Use an email address at corp\.example or sub\.staff\.example\.</)
  }
})

test('every field that is wrong is shown, the domain among them, whether or not there is an account', async () => {
  const known = personAt('example.com')
  await createUser(service, known)
  for (const { email } of [known, personAt('example.com')]) {
    const answer = await signUp(newAgent(service), { email, password: 'short', username: '' })
    assertPage(answer, 422)
    assert.match(answer.text, /id="email-problem">Use an email address at[^]*id="password-problem">Use at least 8/)
  }
})

test('a provider brings new users of these domains alone; the page says which', async () => {
  const accepted = await byCorp(newOpenIdUser({ email: personAt('corp.example').email }))
  assertRedirect(accepted.answer, '/kept')
  for (const email_verified of [true, false]) {
    const { email } = personAt('example.com')
    const { agent, answer } = await byCorp(newOpenIdUser({ email, email_verified }))
    assertNoSession(agent, answer, 422)
    assert.ok(answer.text.includes(`<b>${email}</b>`), answer.text)
    assert.match(answer.text, /with an address at corp\.example or sub\.staff\.example\./)
    assert.match(answer.text, /action="\/auth\/oauth\/corp"[^]*value="\/kept"/)
    assert.match(service.logs(), /"reason":"email_domain_not_accepted"/)
  }
})

test('the command line makes accounts of any domain, which log in by password and by provider', async () => {
  const outside = personAt('example.com')
  await createUser(service, outside)
  await assertCanLogIn(service, outside)
  const person = newOpenIdUser({ email: outside.email })
  const { agent, answer } = await byCorp(person)
  assertNoSession(agent, answer, 409)
  const form = { pending: pendingOn(answer), password: outside.password }
  assertRedirect(await agent.post('/auth/oauth/corp/link', form), '/kept')
  assert.equal((await currentUser((await byCorp(person)).agent)).email, outside.email)
})

test('an invalid domain is an error of the configuration', async () => {
  for (const domains of ['corp', '@corp.example', 'corp.example,', '*.corp.example', 'cörp.example', 'corp..example']) {
    const { code, stderr } = await service.cli(['users', 'list'], { env: { SVC_EMAIL_DOMAINS: domains } })
    assert.equal(code, 78, domains)
    assert.match(stderr, /SVC_EMAIL_DOMAINS=[^\n]*example\.com/)
  }
})
