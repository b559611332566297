// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { CLIENT_SETTINGS, codeFor, madeClient } from '../../support/clients/authorization.ts'
import { startLogoutReceiver } from '../../support/clients/logout-receiver.ts'
import { basic, get, granted, refresh, send, trade, userInfo } from '../../support/clients/tokens.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const receiver = await startLogoutReceiver()
const client = await madeClient(service, { options: ['--backchannel-logout-uri', receiver.url] })
const native = await madeClient(service, { name: 'Phone', options: ['--type', 'native'] })
const { agent } = await signedUp(service)
const { stdout } = await service.cli(['api-keys', 'create', 'resource', '--scope', 'tokens:introspect', '--json'])
const { key } = JSON.parse(stdout) as { key: string }

// A logout token comes from a grant that has ended.
const ended = await granted(service, agent, client)
await send(service, 'revoke', { token: ended.access, client_id: client.id, client_secret: client.secret })
const [logoutToken] = await receiver.received(1)

const tokens = await granted(service, agent, client, 'openid profile offline_access', {
  resource: 'https://notes.example.com/mcp',
})
const phone = await granted(service, agent, native, 'openid profile offline_access')

/** Every kind of secret that svc gives out. */
const secrets: Record<string, () => Promise<string> | string> = {
  'access token of a cookie': () => agent.cookies.get('svc_access') ?? '',
  'refresh token of a cookie': () => agent.cookies.get('svc_refresh') ?? '',
  'refresh token of a cookie with the prefix of another': () => `svc_rt_${agent.cookies.get('svc_refresh')}`,
  'CSRF token': () => agent.cookies.get('svc_csrf') ?? '',
  'sealed cookie': () => agent.cookies.get('svc_link') ?? '',
  'access token of a client': () => tokens.access,
  'access token of a public client': () => phone.access,
  'refresh token of a client': () => tokens.refresh,
  'refresh token of a client without its prefix': () => tokens.refresh.replace('svc_rt_', ''),
  'ID token': () => tokens.id ?? '',
  'logout token': () => logoutToken ?? '',
  code: () => codeFor(agent, client.id),
  'client secret': () => client.secret ?? '',
  'API key': () => key,
}

const withCookies = (access: string, refreshToken = access) => ({
  cookie: `svc_access=${access}; svc_refresh=${refreshToken}`,
})

/** Each door says whether it takes a secret, and the only ones that it takes. */
const doors: Record<string, { takes: string[]; try: (secret: string) => Promise<boolean> }> = {
  'GET /user': {
    takes: ['access token of a cookie'],
    try: async (secret) => (await get(service, '/auth/api/v1/user', { cookie: `svc_access=${secret}` })).status === 200,
  },
  '/check': {
    takes: ['access token of a cookie'],
    try: async (secret) => (await get(service, '/auth/check', { cookie: `svc_access=${secret}` })).status === 200,
  },
  'Bearer at GET /user': {
    takes: [],
    try: async (secret) =>
      (await get(service, '/auth/api/v1/user', { authorization: `Bearer ${secret}` })).status === 200,
  },
  'Bearer at /check': {
    takes: [],
    try: async (secret) => (await get(service, '/auth/check', { authorization: `Bearer ${secret}` })).status === 200,
  },
  'the account page': {
    takes: ['refresh token of a cookie'],
    try: async (secret) => (await get(service, '/auth/account', { cookie: `svc_refresh=${secret}` })).status === 200,
  },
  'the account page, as access token': {
    takes: ['access token of a cookie'],
    try: async (secret) => (await get(service, '/auth/account', { cookie: `svc_access=${secret}` })).status === 200,
  },
  'POST /sessions/refresh': {
    takes: ['refresh token of a cookie'],
    try: async (secret) => {
      const cookie = `svc_refresh=${secret}; svc_csrf=${agent.cookies.get('svc_csrf')}`
      const answer = await agent.copy().refresh(undefined, { cookie })
      return answer.status === 200
    },
  },
  'the server API': {
    takes: [],
    try: async (secret) =>
      (await get(service, '/auth/api/v2/users', { authorization: `Bearer ${secret}` })).status === 200,
  },
  userinfo: {
    takes: ['access token of a client', 'access token of a public client'],
    try: async (secret) => (await userInfo(service, secret)).status === 200,
  },
  'userinfo, as cookie': {
    takes: [],
    try: async (secret) => (await get(service, '/auth/oauth2/userinfo', withCookies(secret))).status === 200,
  },
  'token, as code': {
    takes: ['code'],
    try: async (secret) => (await trade(service, client, secret)).status === 200,
  },
  'token, as refresh token': {
    takes: ['refresh token of a client'],
    try: async (secret) => (await refresh(service, client, secret)).status === 200,
  },
  'token, as client secret': {
    takes: ['client secret'],
    try: async (secret) => (await refresh(service, { id: client.id, secret }, 'x')).body.error === 'invalid_grant',
  },
  'introspection by a key': {
    takes: ['access token of a client', 'access token of a public client', 'refresh token of a client'],
    try: async (secret) =>
      (await send(service, 'introspect', { token: secret }, { authorization: `Bearer ${key}` })).body.active === true,
  },
  'introspection by the client': {
    takes: ['access token of a client', 'refresh token of a client'],
    try: async (secret) =>
      (await send(service, 'introspect', { token: secret }, basic(client.id, client.secret ?? ''))).body.active ===
      true,
  },
  'introspection, as key': {
    takes: ['API key'],
    try: async (secret) =>
      (await send(service, 'introspect', { token: 'x' }, { authorization: `Bearer ${secret}` })).status === 200,
  },
  'introspection, as the password of Basic': {
    takes: ['client secret', 'API key'],
    try: async (secret) => (await send(service, 'introspect', { token: 'x' }, basic(client.id, secret))).status === 200,
  },
}

for (const [door, { takes, try: open }] of Object.entries(doors)) {
  describe(door, () => {
    for (const [name, make] of Object.entries(secrets)) {
      const isTaken = takes.includes(name)
      test(`${isTaken ? 'takes' : 'refuses'} ${name}`, async () => {
        const secret = await make()
        assert.ok(secret, name)
        assert.equal(await open(secret), isTaken)
      })
    }
  })
}

for (const audience of ['https://notes.example.com/mcp', 'https://files.example.com', 'https://files.example.com/']) {
  test(`no token of a cookie is for the resource ${audience}`, async () => {
    const answer = await agent.copy().refresh(`audience=${encodeURIComponent(audience)}`)
    assertJsonError(answer, 400, 'invalid_request')
  })
}

test('after all of this, the grants and the session are as before', async () => {
  assert.equal((await userInfo(service, tokens.access)).status, 200)
  assert.equal((await userInfo(service, phone.access)).status, 200)
  assert.equal((await agent.get('/auth/account')).status, 200)
})

test('no secret of clients is in the database', async () => {
  const code = await codeFor(agent, client.id)
  const contents = (await (await openDatabase(service)).contents()).toString('latin1')
  for (const secret of [tokens.refresh, tokens.access, tokens.id ?? '', code, client.secret ?? ''])
    assert.ok(!contents.includes(secret.replace(/^svc_\w\w_/, '')), secret.slice(0, 8))
})
