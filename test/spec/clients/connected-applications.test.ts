// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import {
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  consentForm,
  madeClient,
  REDIRECT_URI,
} from '../../support/clients/authorization.ts'
import { createUserAgent, urlEncoded, type UserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
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
  assert.ok(!(await agent.get('/auth/account')).text.includes('Connected applications'))
  const [one, two] = [await trade(agent, LASTING), await trade(agent, HANGING)]
  const page = await agent.get('/auth/account')
  assertPage(page)
  for (const text of ['Connected applications', 'Notebook', 'app.example.net', 'Read your notes'])
    assert.ok(page.text.includes(text), text)
  const answer = await agent.post('/auth/account/applications', { client_id: client.id })
  assert.equal(answer.status, 303)
  assert.deepEqual([await refresh(one), await refresh(two)], [400, 400])
  assert.ok(!(await agent.get('/auth/account')).text.includes('Connected applications</h2>'))
  consentForm(await agent.get(authorizePath(client.id, LASTING)))
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
