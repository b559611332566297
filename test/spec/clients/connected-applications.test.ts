// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { loggedIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertCannotLogIn, assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  consentForm,
  madeClient,
  REDIRECT_URI,
} from '../../support/clients/authorization.ts'
import { createUserAgent, urlEncoded, type UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { openReset, resetBy, resetTokenOf, tokenOf, withNewPassword } from '../../support/recovery/reset.ts'
import { createUser } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const smtp = await startSmtpServer()
const mail = { ...smtp.env, SVC_MAIL_NOTICES: 'off', SVC_EMAIL_VERIFICATION: 'off' }
const service = await startService({ env: { ...CLIENT_SETTINGS, ...mail, SVC_CLIENT_REGISTRATION: 'on' } })
const database = await openDatabase(service)
const LOGOUT_URI = 'https://app.example.net/bye'
const options = ['--logout-uri', LOGOUT_URI]
const client = await madeClient(service, { options })

interface Tokens {
  access_token: string
  refresh_token: string
  id_token: string
}

const ask = async (fields: Record<string, string>) => {
  const body = urlEncoded({ client_id: client.id, client_secret: client.secret ?? '', ...fields })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return createUserAgent(service).send({ method: 'POST', path: '/auth/oauth2/token', headers, body })
}

/** The verifier of the requests in these tests. */
const code_verifier = 'v'.repeat(43)

const trade = async (agent: UserAgent, changes = {}): Promise<Tokens> => {
  const code = await codeFor(agent, client.id, changes)
  const answer = await ask({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Tokens>()
}

const refresh = async ({ refresh_token }: Tokens): Promise<number> =>
  (await ask({ grant_type: 'refresh_token', refresh_token })).status

const HANGING = { scope: 'openid' }
const LASTING = { scope: 'openid offline_access notes:read' }

test('the account lists a client, and disconnects it with all of its grants', async () => {
  const { agent } = await signedUp(service)
  const NONE = 'No application has access to your account.'
  assert.ok((await agent.get('/auth/account')).text.includes(NONE))
  const [one, two] = [await trade(agent, LASTING), await trade(agent, HANGING)]
  const page = await agent.get('/auth/account')
  assertPage(page)
  for (const text of ['Connected applications', 'Notebook', 'app.example.net', 'Read your notes'])
    assert.ok(page.text.includes(text), text)
  const answer = await agent.post('/auth/account/applications', { client_id: client.id })
  assert.equal(answer.status, 303)
  assert.deepEqual([await refresh(one), await refresh(two)], [400, 400])
  const after = await agent.get('/auth/account')
  assert.ok(after.text.includes(NONE))
  assert.ok(!after.text.includes('Disconnect Notebook'))
  for (const what of ['connected', 'disconnected'])
    assert.ok(after.text.includes(`“\u2068Notebook\u2069” ${what}`), `the activity says so: ${what}`)
  consentForm(await agent.get(authorizePath(client.id, LASTING)))
})

test('the copy of the own data has each grant, and no id of any', async () => {
  const { agent } = await signedUp(service)
  const none = (await agent.post('/auth/account/data')).json<{ applications: unknown[] }>()
  assert.deepEqual(none.applications, [])
  const { access_token } = await trade(agent, LASTING)
  const { text, json } = await agent.post('/auth/account/data')
  const { applications, activity } = json<Record<string, Record<string, unknown>[]>>()
  const [{ connected_at, last_used_at, ...rest } = {}, ...more] = applications ?? []
  assert.deepEqual(more, [])
  assert.deepEqual(rest, { name: 'Notebook', scopes: LASTING.scope.split(' '), resource: null })
  for (const at of [connected_at, last_used_at]) assert.match(String(at), /^\d{4}-\d\d-\d\dT/)
  assert.equal(activity?.find(({ type }) => type === 'grant.created')?.client_name, 'Notebook')
  for (const id of [client.id, String(decodeJwt(access_token).sid)]) assert.ok(!text.includes(id))
})

test('the button of all of them disconnects no other user', async () => {
  const [{ agent }, { agent: other }] = [await signedUp(service), await signedUp(service)]
  const [own, others] = [await trade(agent, LASTING), await trade(other, LASTING)]
  assert.equal((await agent.post('/auth/account/applications', { all: '1' })).status, 303)
  assert.deepEqual([await refresh(own), await refresh(others)], [400, 200])
})

test('a code of before is good for nothing after Disconnect', async () => {
  const { agent } = await signedUp(service)
  const code = await codeFor(agent, client.id, LASTING)
  await agent.post('/auth/account/applications', { client_id: client.id })
  const answer = await ask({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier })
  assert.equal(answer.json<{ error: string }>().error, 'invalid_grant')
})

const logoutPath = (fields: Record<string, string>) => `/auth/oauth2/logout?${new URLSearchParams(fields).toString()}`

test('a client logs out at once where its grant hangs on the session, and goes on', async () => {
  const { agent } = await signedUp(service)
  const [tokens, lasting] = [await trade(agent, HANGING), await trade(agent, LASTING)]
  const asked = { id_token_hint: tokens.id_token, post_logout_redirect_uri: LOGOUT_URI, state: 's' }
  const answer = await agent.get(logoutPath(asked))
  assert.equal(answer.status, 303)
  assert.equal(answer.location, `${LOGOUT_URI}?state=s`)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
  assert.deepEqual([await refresh(tokens), await refresh(lasting)], [400, 200])
})

test('a button asks everybody else, and nothing ends before it is pressed', async () => {
  const { agent } = await signedUp(service)
  const { id_token: lasting } = await trade(agent, LASTING)
  for (const fields of [
    {},
    { client_id: client.id, post_logout_redirect_uri: LOGOUT_URI },
    { id_token_hint: lasting },
  ]) {
    const answer = await agent.get(logoutPath(fields))
    assertPage(answer)
    assert.ok(answer.text.includes('Log out?'))
    assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
  }
  const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: LOGOUT_URI }).toString()
  const answer = await agent.post('/auth/oauth2/logout/confirm', { query })
  assert.equal(answer.headers.refresh, `0;url=${LOGOUT_URI}`)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
})

test('the button of an outdated page is shown again, and says so where another tab has logged out', async () => {
  const { agent } = await signedUp(service)
  const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: LOGOUT_URI }).toString()
  const outdated = { query, csrf_token: 'A'.repeat(43) }
  const again = await agent.post('/auth/oauth2/logout/confirm', outdated, { origin: service.url })
  assertPage(again, 403)
  assert.match(again.text, /This page expired, so nothing was changed\./)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
  const [, kept = ''] = /name="query" value="([^"]*)"/.exec(again.text) ?? []
  assert.equal(kept.replaceAll('&amp;', '&'), query)
  const left = await agent.post('/auth/oauth2/logout/confirm', { query })
  assert.equal(left.headers.refresh, `0;url=${LOGOUT_URI}`)
  const late = await agent.post('/auth/oauth2/logout/confirm', outdated, { origin: service.url })
  assertPage(late, 403)
  assert.match(late.text, /You’re logged out/)
  assert.ok(late.text.includes(`href="${LOGOUT_URI}"`))
})

test('a POST leads to the same GET, without a token, and ends nothing', async () => {
  const { agent } = await signedUp(service)
  const tokens = await trade(agent, HANGING)
  const fields = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: LOGOUT_URI }
  const answer = await agent.post(
    '/auth/oauth2/logout',
    { ...fields, csrf_token: [] },
    { origin: 'https://app.example.net' },
  )
  assert.equal(answer.status, 303)
  assert.equal(answer.location, logoutPath(fields))
  assert.equal(await refresh(tokens), 200)
})

test('a logout leads nowhere that the client has not registered', async () => {
  for (const uri of [
    'https://evil.example/',
    `${LOGOUT_URI}/`,
    `${LOGOUT_URI}#`,
    '//evil.example',
    'javascript:alert(1)',
    REDIRECT_URI,
  ])
    for (const fields of [{ client_id: client.id }, {} as Record<string, string>]) {
      const answer = await newAgent(service).get(logoutPath({ ...fields, post_logout_redirect_uri: uri }))
      assertPage(answer)
      assert.equal(answer.headers.refresh, undefined)
      assert.ok(!answer.text.includes('evil.example'))
    }
})

test('an ID token as a hint names the user who is expected', async () => {
  const [{ agent }, { agent: other }] = [await signedUp(service), await signedUp(service)]
  const { id_token: id_token_hint } = await trade(agent, HANGING)
  assert.match((await agent.get(authorizePath(client.id, { ...HANGING, id_token_hint }))).location ?? '', /code=/)
  assert.match(
    (await other.get(authorizePath(client.id, { ...HANGING, id_token_hint }))).location ?? '',
    /error=login_required/,
  )
  assert.match(
    (await agent.get(authorizePath(client.id, { id_token_hint: 'x' }))).location ?? '',
    /error=invalid_request/,
  )
})

test('a hint ends nothing as soon as its key is revoked', async () => {
  const { agent } = await signedUp(service)
  const tokens = await trade(agent, HANGING)
  const logOutBy = (hint: string) => newAgent(service).get(`/auth/oauth2/logout?id_token_hint=${hint}`)
  assert.equal((await service.cli(['keys', 'rotate', '--now'])).code, 0)
  await logOutBy(tokens.id_token)
  assert.equal(await refresh(tokens), 200)
  const next = await trade(agent, HANGING)
  await logOutBy(next.id_token)
  assert.equal(await refresh(next), 400, 'the hint of a key that is good')
})

/** A user whose address is proved. */
const owner = async () => {
  const person = newPerson()
  await createUser(service, person)
  return { person, agent: await loggedIn(service, person) }
}

/** Every notice of an application that was written to an address, sent or not. */
const countNotices = async (email: string): Promise<number> => {
  const rows = await database.rows('SELECT purpose FROM mail_messages WHERE recipient = ?', email)
  return rows.filter(({ purpose }) => purpose === 'application_connected').length
}

const FUTURE = 'Connected applications are disconnected too.'
const PAST = 'Connected applications were disconnected too.'

test('the first grant to a client is told by mail, whatever the setting of notices; "This wasn’t me" ends it', async () => {
  const { person, agent } = await owner()
  const tokens = await trade(agent, LASTING)
  const { subject, text, html, link } = await smtp.receivedFor(person.email)
  assert.equal(subject, 'An application was connected to your account')
  for (const part of [text, html]) for (const fact of ['Notebook', 'app.example.net']) assert.ok(part.includes(fact))
  assert.match(text, /^IP address: (?:127\.0\.0\.1|::1)$/m, 'of the browser that has allowed it')

  const browser = newAgent(service)
  const path = link.slice(service.url.length)
  const page = await browser.get(path)
  assertPage(page)
  assert.ok(page.text.includes('All connected applications are disconnected.'))
  assert.equal(await refresh(tokens), 200, 'a look at the page changes nothing')
  const form = { token: tokenOf(link), password: `new ${person.password}` }
  assertPage(await browser.post('/auth/account/not-me', { ...form, password: 'short' }), 422)
  assert.equal(await refresh(tokens), 200, 'a refused password changes nothing')
  assertRedirect(await browser.post('/auth/account/not-me', form), '/')
  assert.equal(await refresh(tokens), 400)
  assert.ok((await smtp.receivedFor(person.email, 2)).text.includes(`All devices were logged out. ${PAST}`))
  await assertSignedOut(agent)
  await assertCannotLogIn(service, person)
  assertPage(await newAgent(service).get(path), 410)
  consentForm(await browser.get(authorizePath(client.id, LASTING)))
})

test('a message about a new password tells that applications were disconnected, where one was', async () => {
  const [{ person, agent }, { person: other }] = [await owner(), await owner()]
  await trade(agent, LASTING)
  const { text: connected } = await smtp.receivedFor(person.email)
  assert.ok(connected.includes(`and you choose a new password. ${FUTURE}`), connected)
  const account = await agent.get('/auth/account')
  assert.ok(account.text.includes(`This logs out your other devices. ${FUTURE}`))
  for (const [count, { email, password }] of [[2, person] as const, [1, other] as const]) {
    const token = await resetTokenOf(service, email)
    const page = await openReset(newAgent(service), token)
    assert.ok(page.text.includes(`This logs out all your other devices. ${FUTURE}`), page.text)
    await resetBy(newAgent(service), token, `new ${password}`)
    const { subject, text } = await smtp.receivedFor(email, count)
    assert.equal(subject, 'Your password was reset')
    assert.equal(text.includes(`All devices were logged out. ${PAST}`), count === 2, text)
  }
  await trade(await loggedIn(service, withNewPassword(person)), HANGING)
  await service.cli(['users', 'set-password', person.email], { input: 'a word of an operator' })
  const { text } = await smtp.receivedFor(person.email, 3)
  assert.ok(text.includes(`has a new password. All devices were logged out. ${PAST}`), text)
})

test('further grants to a client are not told, until it was disconnected', async () => {
  const { person, agent } = await owner()
  await trade(agent, LASTING)
  await trade(agent, HANGING)
  const other = await madeClient(service, { name: 'Other' })
  assert.equal(await countNotices(person.email), 1)
  await codeFor(agent, other.id)
  assert.equal(await countNotices(person.email), 1, 'a code is no grant')
  await agent.post('/auth/account/applications', { client_id: client.id })
  await trade(agent, LASTING)
  assert.equal(await countNotices(person.email), 2)
  // An end of all sessions is no new beginning.
  await service.cli(['sessions', 'revoke', person.email])
  await trade(await loggedIn(service, person), LASTING)
  assert.equal(await countNotices(person.email), 2)
})

test('an address that nobody has proved learns no name that a stranger could have chosen', async () => {
  const redirect_uri = 'http://127.0.0.1/callback'
  const registered = await createUserAgent(service).send({
    method: 'POST',
    path: '/auth/oauth2/register',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Claim it at evil.example', redirect_uris: [redirect_uri] }),
  })
  const { client_id } = registered.json<{ client_id: string }>()
  for (const isProved of [false, true]) {
    const { agent, person } = isProved ? await owner() : await signedUp(service)
    const sent = await agent.get(authorizePath(client_id, { redirect_uri }))
    const return_to = new URL(sent.location ?? '', service.url).searchParams.get('return_to') ?? ''
    const confirmed = await agent.post('/auth/account/confirm', { password: person.password, return_to })
    const answer = await allow(agent, await agent.get(confirmed.location ?? ''))
    const code = answerToClient(answer, redirect_uri).get('code') ?? ''
    const fields = { grant_type: 'authorization_code', client_id, client_secret: '', redirect_uri, code, code_verifier }
    assert.equal((await ask(fields)).status, 200)
    const { subject, text, html } = await smtp.receivedFor(person.email)
    assert.equal(subject, 'An application was connected to your account')
    assert.match(text, /^Where it runs: A program on a device$/m)
    assert.equal(`${text}${html}`.includes('evil.example'), isProved, 'a name of its own goes to its owner alone')
  }
})

test('grants to a client of the operator’s own are not told', async () => {
  const own = await madeClient(service, { name: 'Own', options: ['--first-party'] })
  const { person, agent } = await owner()
  const code = await codeFor(agent, own.id, LASTING)
  const fields = { client_id: own.id, client_secret: own.secret ?? '', redirect_uri: REDIRECT_URI, code_verifier }
  assert.equal((await ask({ grant_type: 'authorization_code', code, ...fields })).status, 200)
  assert.equal(await countNotices(person.email), 0)
})
