// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { requireToken } from '../../../sdk/src/resource.ts'
import { createAuth } from '../../../sdk/src/server.ts'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import {
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  consentForm,
  madeClient,
} from '../../support/clients/authorization.ts'
import { startLogoutReceiver } from '../../support/clients/logout-receiver.ts'
import { assertLive, basic, get, granted, refresh, send, trade, userInfo } from '../../support/clients/tokens.ts'
import { openDatabase } from '../../support/database/database.ts'
import { resetTokenOf } from '../../support/recovery/reset.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const receiver = await startLogoutReceiver()
const client = await madeClient(service, { options: ['--backchannel-logout-uri', receiver.url] })
const native = await madeClient(service, { name: 'Phone', options: ['--type', 'native'] })
const { agent, person } = await signedUp(service)
const { stdout } = await service.cli([
  'api-keys',
  'create',
  'resource',
  '--scope',
  'tokens:introspect',
  '--scope',
  'users:read',
  '--json',
])
const { key } = JSON.parse(stdout) as { key: string }

// A logout token comes from a grant that has ended.
const ended = await granted(service, agent, client)
await send(service, 'revoke', { token: ended.access, client_id: client.id, client_secret: client.secret })
const [logoutToken] = await receiver.received(1)

const [NOTES, FILES] = ['https://notes.example.com/mcp', 'https://files.example.com']
const SCOPE = 'openid profile offline_access'
const grants = {
  client: () => granted(service, agent, client, SCOPE, { resource: NOTES }),
  files: () => granted(service, agent, client, SCOPE, { resource: FILES }),
  phone: () => granted(service, agent, native, SCOPE),
}
let [tokens, files, phone] = [await grants.client(), await grants.files(), await grants.phone()]

/** A door that is good for the end of a grant has taken a secret if one has ended. It is replaced. */
const hasEndedOne = async (): Promise<boolean> => {
  const isLive = async ({ access }: typeof tokens) => (await userInfo(service, access)).status === 200
  const live = { tokens: await isLive(tokens), files: await isLive(files), phone: await isLive(phone) }
  if (!live.tokens) tokens = await grants.client()
  if (!live.files) files = await grants.files()
  if (!live.phone) phone = await grants.phone()
  return Object.values(live).includes(false)
}

/** The text of a request that is on its way: it asks for a new login. */
const heldRequest = async (): Promise<string> => {
  const { location = '' } = await agent.get(authorizePath(client.id, { prompt: 'login' }))
  const returnTo = new URL(location, service.url).searchParams.get('return_to') ?? ''
  return new URL(returnTo, service.url).searchParams.get('request') ?? ''
}

/** Every kind of secret that svc gives out. */
const secrets: Record<string, () => Promise<string> | string> = {
  'access token of a cookie': () => agent.cookies.get('svc_access') ?? '',
  'refresh token of a cookie': () => agent.cookies.get('svc_refresh') ?? '',
  'refresh token of a cookie with the prefix of another': () => `svc_rt_${agent.cookies.get('svc_refresh')}`,
  'CSRF token': () => agent.cookies.get('svc_csrf') ?? '',
  'sealed cookie': () => agent.cookies.get('svc_link') ?? '',
  'access token of a client': () => tokens.access,
  'access token for another resource': () => files.access,
  'access token of a public client': () => phone.access,
  'refresh token of a client': () => tokens.refresh,
  'refresh token of a client without its prefix': () => tokens.refresh.replace('svc_rt_', ''),
  'refresh token of a public client': () => phone.refresh,
  'ID token': () => tokens.id ?? '',
  'ID token of another client': () => phone.id ?? '',
  'logout token': () => logoutToken ?? '',
  code: () => codeFor(agent, client.id),
  'client secret': () => client.secret ?? '',
  'API key': () => key,
  link: () => resetTokenOf(service, person.email),
  'consent request': async () => consentForm(await agent.get(authorizePath(client.id, { prompt: 'consent' }))).request,
  'request on its way': heldRequest,
}

const OF_CLIENTS = ['access token of a client', 'access token for another resource', 'access token of a public client']
const OF_THE_CLIENT = ['access token of a client', 'access token for another resource', 'refresh token of a client']
const COOKIE_ACCESS = ['access token of a cookie']

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const isOk = async (answer: Promise<{ status: number }>): Promise<boolean> => (await answer).status === 200
const opens = (path: string, headersOf: (secret: string) => Record<string, string>) => (secret: string) =>
  isOk(get(service, path, headersOf(secret)))
const asAccess = (secret: string) => ({ cookie: `svc_access=${secret}` })
const asRefresh = (secret: string) => ({ cookie: `svc_refresh=${secret}` })
const sends = (route: string, fieldsOf: (secret: string) => Record<string, string>) => (secret: string) =>
  isOk(send(service, route, fieldsOf(secret)))
const opensPage = (path: string) => (secret: string) => isOk(newAgent(service).get(path + encodeURIComponent(secret)))
const isActive = async (secret: string, headers: Record<string, string>) =>
  (await send(service, 'introspect', { token: secret }, headers)).body.active === true
const own = { client_id: client.id, client_secret: client.secret ?? '' }

const sdk = createAuth({ url: service.url, issuer: service.url })
const admit = requireToken({ resource: NOTES, scopes: ['openid'], url: service.url, issuer: service.url })

/** Each door says whether it takes a secret, and the only ones that it takes. */
const doors: [door: string, takes: string[], open: (secret: string) => Promise<boolean>][] = [
  ['GET /user', COOKIE_ACCESS, opens('/auth/api/v1/user', asAccess)],
  ['/check', COOKIE_ACCESS, opens('/auth/check', asAccess)],
  ['Bearer at GET /user', [], opens('/auth/api/v1/user', bearer)],
  ['Bearer at /check', [], opens('/auth/check', bearer)],
  ['Bearer at the account page', [], opens('/auth/account', bearer)],
  ['the account page', ['refresh token of a cookie'], opens('/auth/account', asRefresh)],
  ['the account page, as access token', COOKIE_ACCESS, opens('/auth/account', asAccess)],
  [
    'POST /sessions/refresh',
    ['refresh token of a cookie'],
    (secret) => {
      const cookie = `svc_refresh=${secret}; svc_csrf=${agent.cookies.get('svc_csrf')}`
      return isOk(agent.copy().refresh(undefined, { cookie }))
    },
  ],
  [
    'a form, as CSRF token',
    ['CSRF token'],
    async (secret) => (await agent.post('/auth/oauth2/consent', { csrf_token: secret })).status !== 403,
  ],
  ['the server API', ['API key'], opens('/auth/api/v2/users', bearer)],
  ['the server API, as cookie', [], opens('/auth/api/v2/users', asAccess)],
  ['userinfo', OF_CLIENTS, opens('/auth/oauth2/userinfo', bearer)],
  ['userinfo, as cookie', [], opens('/auth/oauth2/userinfo', asAccess)],
  ['userinfo, in the body', [], sends('userinfo', (secret) => ({ access_token: secret }))],
  ['token, as code', ['code'], (secret) => isOk(trade(service, client, secret))],
  [
    'token, as refresh token',
    ['refresh token of a client'],
    async (secret) => {
      const isTaken = await isOk(refresh(service, client, secret))
      // The token of another client has ended its grant.
      await hasEndedOne()
      return isTaken
    },
  ],
  [
    'token, as client secret',
    ['client secret'],
    async (secret) => (await refresh(service, { id: client.id, secret }, 'x')).body.error === 'invalid_grant',
  ],
  [
    'introspection by a key',
    [...OF_THE_CLIENT, 'access token of a public client', 'refresh token of a public client'],
    (secret) => isActive(secret, bearer(key)),
  ],
  ['introspection by the client', OF_THE_CLIENT, (secret) => isActive(secret, basic(own.client_id, own.client_secret))],
  ['introspection, as key', ['API key'], (secret) => isOk(send(service, 'introspect', { token: 'x' }, bearer(secret)))],
  [
    'introspection, as the password of Basic',
    ['client secret', 'API key'],
    (secret) => isOk(send(service, 'introspect', { token: 'x' }, basic(client.id, secret))),
  ],
  [
    'revocation',
    OF_THE_CLIENT,
    async (secret) => {
      await send(service, 'revoke', { token: secret, ...own })
      return hasEndedOne()
    },
  ],
  [
    'revocation, as client secret',
    ['client secret'],
    sends('revoke', (secret) => ({ token: 'x', ...own, client_secret: secret })),
  ],
  [
    'a request, as id_token_hint',
    ['ID token'],
    async (secret) => {
      const changes = { scope: SCOPE, resource: NOTES, prompt: 'none', id_token_hint: secret }
      return answerToClient(await agent.get(authorizePath(client.id, changes))).has('code')
    },
  ],
  [
    'a logout, as id_token_hint',
    ['ID token', 'ID token of another client'],
    async (secret) => {
      await newAgent(service).get(`/auth/oauth2/logout?id_token_hint=${encodeURIComponent(secret)}`)
      return hasEndedOne()
    },
  ],
  [
    'a request on its way',
    ['request on its way'],
    async (secret) => (await agent.get(`/auth/oauth2/authorize?request=${encodeURIComponent(secret)}`)).status === 303,
  ],
  [
    'the cookie of a request on its way',
    ['sealed cookie'],
    async (secret) => {
      const path = `/auth/oauth2/authorize?request=${encodeURIComponent(await heldRequest())}`
      const browser = agent.copy()
      browser.cookies.set('svc_link', secret, '/auth')
      return (await browser.get(path)).status === 303
    },
  ],
  [
    'the form of consent',
    ['consent request'],
    async (secret) => {
      const { headers } = await agent.post('/auth/oauth2/consent', { request: secret, allow: '1' })
      return String(headers.refresh).includes('code=svc_ac_')
    },
  ],
  ['the page of a new password', ['link'], opensPage('/auth/password/reset?token=')],
  ['the page that proves an email', [], opensPage('/auth/email/verify?token=')],
  ['the page that undoes a change of email', [], opensPage('/auth/email/undo?token=')],
  ['the page of "This wasn’t me"', [], opensPage('/auth/account/not-me?token=')],
  [
    'requireToken() of the SDK',
    ['access token of a client'],
    async (secret) => (await admit(new Request(NOTES, { headers: bearer(secret) }))) === undefined,
  ],
  [
    'verifyAccessToken() of the SDK',
    COOKIE_ACCESS,
    (secret) =>
      sdk.verifyAccessToken(secret).then(
        () => true,
        () => false,
      ),
  ],
  [
    'getUser() of the SDK',
    COOKIE_ACCESS,
    async (secret) => (await sdk.getUser({ headers: asAccess(secret) })) !== null,
  ],
  ['getUser() of the SDK, as Bearer', [], async (secret) => (await sdk.getUser({ headers: bearer(secret) })) !== null],
]

describe('of all secrets', () => {
  for (const [door, takes, open] of doors) {
    test(`${door} takes ${takes.join(', ') || 'none'}`, async () => {
      const taken: string[] = []
      for (const [name, make] of Object.entries(secrets)) {
        const secret = await make()
        assert.ok(secret, name)
        if (await open(secret)) taken.push(name)
      }
      assert.deepEqual(taken.toSorted(), takes.toSorted())
    })
  }
})

for (const audience of ['https://notes.example.com/mcp', 'https://files.example.com', 'https://files.example.com/']) {
  test(`no token of a cookie is for the resource ${audience}`, async () => {
    const answer = await agent.copy().refresh(`audience=${encodeURIComponent(audience)}`)
    assertJsonError(answer, 400, 'invalid_request')
  })
}

test('after all of this, the grants and the session are as before', async () => {
  for (const given of [tokens, files, phone]) await assertLive(service, given)
  assert.equal((await agent.get('/auth/account')).status, 200)
})

test('no secret of clients is in the database', async () => {
  const code = await codeFor(agent, client.id)
  const contents = (await (await openDatabase(service)).contents()).toString('latin1')
  for (const secret of [tokens.refresh, tokens.access, tokens.id ?? '', code, client.secret ?? ''])
    assert.ok(!contents.includes(secret.replace(/^svc_\w\w_/, '')), secret.slice(0, 8))
})
