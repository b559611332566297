// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import { asked, askFor, confirm, startMailedService, UNDO, VERIFY } from '../../support/email/email-change.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { FORGOT, tokenOf } from '../../support/recovery/reset.ts'
import { createUser, disableUser, enableUser } from '../../support/service/operator-commands.ts'

const corp = await startOpenIdProvider()
const mailed = await startMailedService({ providers: { corp }, env: { SVC_PASSWORDS: 'off' } })
const { service, smtp } = mailed

const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })

const userOfCorp = async () => {
  const [agent, employee] = [newAgent(service), newOpenIdUser()]
  assertRedirect(await signInBy(agent, 'corp', byCorp(employee)), '/')
  return { agent, employee, ...(await currentUser(agent)) }
}

const wordsOf = (html: string): string => html.replace(/<[^>]*>/g, ' ')

test('without passwords, “Trouble logging in?” mails a link that connects a provider', async () => {
  const person = newPerson()
  await createUser(service, person)
  const employee = newOpenIdUser({ email: person.email })
  const [agent, elsewhere] = [newAgent(service), newAgent(service)]
  assert.match((await agent.get('/auth/login')).text, /href="\/auth\/password\/forgot[^"]*">Trouble logging in\?/)
  const page = await agent.get(`${FORGOT}?email=${encodeURIComponent(person.email)}&return_to=%2Fkept`)
  assertPage(page)
  assert.doesNotMatch(wordsOf(page.text), /password/i)
  const sent = await agent.post(FORGOT, { email: person.email, return_to: '/kept' })
  assertPage(sent)
  assert.doesNotMatch(wordsOf(sent.text), /password/i)

  const message = await smtp.receivedFor(person.email, 1)
  assert.doesNotMatch(message.text, /password(?!\/reset)/i)
  const { pathname, search } = new URL(message.link)
  const opened = await elsewhere.get(pathname + search)
  assertPage(opened)
  assert.doesNotMatch(wordsOf(opened.text), /password/i)
  const token = tokenOf(message.link)
  assertRedirect(await signInBy(agent, 'corp', byCorp(employee), { intent: 'reset', token }), '/kept')
  assert.equal((await currentUser(agent)).email, person.email)
  assertPage(await elsewhere.get(pathname + search), 410)
})

test('“This wasn’t me” leads to a provider, and disconnects the one that was named', async () => {
  const { agent, id, email } = await userOfCorp()
  const thief = newOpenIdUser()
  const connected = await signInBy(agent, 'corp', byCorp(thief), { intent: 'link' })
  assertRedirect(connected, '/auth/account?done=linked')
  const { pathname, search } = new URL((await smtp.receivedFor(email, 1)).link)
  const owner = newAgent(service)
  const page = await owner.get(pathname + search)
  assertPage(page)
  assert.doesNotMatch(wordsOf(page.text), /password/i)
  const next = await owner.post(pathname, { token: new URLSearchParams(search).get('token') ?? '' })
  assert.equal(next.status, 303, next.text)
  const token = tokenOf(new URL(next.location ?? '', service.url).href)
  const employee = newOpenIdUser()
  const entered = await signInBy(owner, 'corp', byCorp(employee), { intent: 'reset', token })
  assert.equal(entered.status, 303, entered.text)
  assert.equal((await currentUser(owner)).id, id)
  await assertSignedOut(agent)
  const apart = newAgent(service)
  assertRedirect(await signInBy(apart, 'corp', byCorp(thief)), '/')
  assert.notEqual((await currentUser(apart)).id, id)
})

test('an undo link connects a provider in place of a new password, and ends what was connected since', async () => {
  const { agent, employee, id, email } = await userOfCorp()
  const thief = newPerson()
  const answer = await confirm(agent, await asked(mailed, agent, thief.email))
  assertPage(answer)
  assert.doesNotMatch(wordsOf(answer.text), /password|log in with/i)
  assert.equal((await currentUser(agent)).email, thief.email)

  const token = await mailed.tokenTo(email, 2)
  const page = await newAgent(service).get(`${UNDO}?token=${token}`)
  assertPage(page)
  assert.doesNotMatch(wordsOf(page.text), /password/i)
  assert.doesNotMatch(page.text, /type="password"/)
  assert.match(page.text, new RegExp(`name="intent" value="undo"[^]*value="${token}"`))
  assertErrorPage(await newAgent(service).post(UNDO, { token, password: thief.password }), 404)

  const owner = newAgent(service)
  assertRedirect(await signInBy(owner, 'corp', byCorp(employee), { intent: 'undo', token }), '/')
  assert.deepEqual([(await currentUser(owner)).id, (await currentUser(owner)).email], [id, email])
  await assertSignedOut(agent)
})

test('the link waits while the account is disabled, and nobody is signed in', async () => {
  const { agent, employee, id, email } = await userOfCorp()
  const thief = newPerson()
  assertPage(await confirm(agent, await asked(mailed, agent, thief.email)))
  const token = await mailed.tokenTo(email, 2)
  await disableUser(service, id)
  const owner = newAgent(service)
  const answer = await signInBy(owner, 'corp', byCorp(employee), { intent: 'undo', token })
  assertNoSession(owner, answer, 403)
  const { stdout } = await service.cli(['users', 'show', id, '--json'])
  assert.match(stdout, new RegExp(`"email": ?"${thief.email}"`))
  await enableUser(service, id)
  assertRedirect(await signInBy(owner, 'corp', byCorp(employee), { intent: 'undo', token }), '/')
  assert.equal((await currentUser(owner)).email, email)
})

test('a signup that waits for its confirmation comes to nothing once passwords are off', async (t) => {
  const waiting = await startMailedService({ t, providers: { corp }, env: { SVC_EMAIL_VERIFICATION: 'required' } })
  const person = newPerson()
  const agent = newAgent(waiting.service)
  assertPage(await agent.post('/auth/signup', person))
  const token = await waiting.tokenTo(person.email)
  await waiting.service.restart({ env: { SVC_PASSWORDS: 'off' } })
  for (const browser of [agent, newAgent(waiting.service)]) {
    assertPage(await browser.get(`${VERIFY}?token=${token}`), 410)
    assertPage(await browser.post(VERIFY, { token, password: person.password }), 410)
  }
})

test('`SVC_EMAIL_DOMAINS` holds for changes of email too, and the page names the domains', async (t) => {
  const limited = await startMailedService({ t, env: { SVC_EMAIL_DOMAINS: 'corp.example' } })
  const { agent } = await limited.newUser()
  const refused = await askFor(agent, 'ada@example.com')
  assertPage(refused, 422)
  assert.match(refused.text, /Use an email address at corp\.example\./)
  assert.match(refused.text, /value="ada@example\.com"/)
  await asked(limited, agent, `${newPerson().username}@CORP.example`)
})
