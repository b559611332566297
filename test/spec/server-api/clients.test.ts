// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import {
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  madeClient,
  REDIRECT_URI as URI,
} from '../../support/clients/authorization.ts'
import {
  assertEnded,
  assertLive,
  assertOAuthError,
  granted,
  newlyGranted,
  trade,
} from '../../support/clients/tokens.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const api = await createBackend(service, ['clients:write', 'sessions:read', 'sessions:write'])
const reader = await createBackend(service, ['clients:read'])
const NOBODY = '019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b'

type Body = Record<string, unknown> & { id: string; secret?: string }
const bodyOf = (answer: Answer, status = 200): Body => {
  assert.equal(answer.status, status, answer.text)
  return answer.json<Body>()
}
const create = async (more: object = {}) =>
  bodyOf(await api.call('POST', '/clients', { name: 'Made by key', redirect_uris: [URI], ...more }), 201)
const shown = async (id: string) => bodyOf(await reader.call('GET', `/clients/${id}`))

const assertForbidden = (answer: Answer, field: string) => {
  assertJsonError(answer, 403, 'forbidden')
  assert.equal(answer.json<{ error: { field: string } }>().error.field, field)
}

const send = (path: string, sent?: object) =>
  api.call('POST', path, sent, { 'idempotency-key': `of ${path}`.replaceAll(' ', '-') })

describe('the server API', () => {
  test('makes, shows, lists, changes and deletes a client, each recorded with the key', async () => {
    const { secret, ...made } = await create()
    assert.match(String(secret), /^svc_cs_[\w-]{43}$/)
    assert.deepEqual(await shown(made.id), made)
    assert.deepEqual(made, await runJsonCommandOf(service, ['clients', 'show', made.id]), 'as the command shows it')
    const { clients } = bodyOf(await reader.call('GET', '/clients')) as unknown as { clients: Body[] }
    assert.deepEqual(clients[0], made)
    assertOAuthError(await trade(service, { id: made.id, secret: String(secret) }, 'svc_ac_x'), 400, 'invalid_grant')

    const changes = { name: 'Changed', scopes: ['openid'], require_mfa: true, logout_uris: [`${URI}/out`] }
    const changed = bodyOf(await api.call('PATCH', `/clients/${made.id}`, changes))
    assert.deepEqual(changed, { ...made, ...changes })
    const reset = bodyOf(await api.call('PATCH', `/clients/${made.id}`, { scopes: null, disabled: true }))
    assert.deepEqual([reset.scopes, reset.disabled, reset.name], [null, true, 'Changed'])

    assert.equal((await api.call('DELETE', `/clients/${made.id}`)).status, 204)
    assert.equal((await api.call('DELETE', `/clients/${made.id}`)).status, 204)
    assertJsonError(await reader.call('GET', `/clients/${made.id}`), 404, 'not_found')
    const events = await runJsonCommandOf<{ type: string; actor: string; details: { client_id?: string } }[]>(service, [
      'audit',
      'list',
    ])
    const own = events
      .filter(({ details }) => details.client_id === made.id)
      .map(({ type, actor }) => `${actor} ${type}`)
    const actor = own[0]?.split(' ')[0] ?? ''
    assert.match(actor, /^api:backend-/)
    assert.deepEqual(
      own,
      ['deleted', 'changed', 'changed', 'created'].map((what) => `${actor} client.${what}`),
    )
  })

  test('rotates a secret, of confidential clients alone', async () => {
    const { id, secret } = await create()
    const rotated = bodyOf(await api.call('POST', `/clients/${id}/secrets`), 201)
    assert.notEqual(rotated.secret, secret)
    assert.ok(Date.parse(String(rotated.former_secret_until)) > Date.now() + 23 * 3_600_000)
    for (const good of [secret, rotated.secret])
      assertOAuthError(await trade(service, { id, secret: String(good) }, 'svc_ac_x'), 400, 'invalid_grant')
    const { id: native } = await create({ type: 'native' })
    assertJsonError(await api.call('POST', `/clients/${native}/secrets`), 422, 'unprocessable')
  })

  test('repeats the answer to a request that comes again, the secret included', async () => {
    const body = { name: 'Once', redirect_uris: [URI] }
    const first = bodyOf(await send('/clients', body), 201)
    assert.deepEqual(bodyOf(await send('/clients', body), 201), first)
    const rotated = bodyOf(await send(`/clients/${first.id}/secrets`), 201)
    assert.deepEqual(bodyOf(await send(`/clients/${first.id}/secrets`), 201), rotated)
  })

  const refused: [string, object, string][] = [
    ['no redirect URI', { redirect_uris: [] }, 'redirect_uris'],
    ['a redirect URI that runs code', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['a name of 61 characters', { name: 'x'.repeat(61) }, 'name'],
    ['a name that turns the direction', { name: 'a\u202Eb' }, 'name'],
    ['an unknown scope', { scopes: ['x'] }, 'scopes'],
    ['an unknown resource', { resources: ['https://other.example/'] }, 'resources'],
    ['a logout URI that is plain http', { logout_uris: ['http://a.example/'] }, 'logout_uris'],
    ['an unknown type', { type: 'spa' }, 'type'],
    ['an unknown field', { secret: 'x' }, 'secret'],
  ]
  for (const [what, values, field] of refused) {
    test(`refuses ${what}, names the field, and makes and changes nothing`, async () => {
      const made = await create({ type: 'native' })
      const before = (await reader.call('GET', '/clients')).text
      const answer = await api.call('POST', '/clients', { name: 'x', redirect_uris: [URI], ...values })
      assertJsonError(answer, 422, 'unprocessable')
      assert.equal(answer.json<{ error: { field: string } }>().error.field, field)
      assertJsonError(await api.call('PATCH', `/clients/${made.id}`, values), 422, 'unprocessable')
      assert.equal((await reader.call('GET', '/clients')).text, before)
    })
  }

  test('makes, changes and deletes no first-party client, and sets no back-channel URI: 403, which names the field', async () => {
    const body = { name: 'x', redirect_uris: [URI] }
    assertForbidden(await api.call('POST', '/clients', { ...body, first_party: true }), 'first_party')
    assertForbidden(
      await api.call('POST', '/clients', { ...body, backchannel_logout_uri: URI }),
      'backchannel_logout_uri',
    )
    const { id } = await create({ first_party: false, backchannel_logout_uri: null })
    assertForbidden(await api.call('PATCH', `/clients/${id}`, { first_party: true }), 'first_party')
    assertForbidden(
      await api.call('PATCH', `/clients/${id}`, { backchannel_logout_uri: URI }),
      'backchannel_logout_uri',
    )
    const own = await madeClient(service, {
      name: 'First-party',
      options: ['--first-party', '--backchannel-logout-uri', URI],
    })
    const before = await shown(own.id)
    for (const changes of [
      { name: 'x' },
      { disabled: true },
      { first_party: false },
      { redirect_uris: ['https://evil.example/'] },
    ])
      assertForbidden(await api.call('PATCH', `/clients/${own.id}`, changes), 'first_party')
    assertForbidden(await api.call('POST', `/clients/${own.id}/secrets`), 'first_party')
    assertForbidden(await api.call('DELETE', `/clients/${own.id}`), 'first_party')
    assert.deepEqual(await shown(own.id), before)
    const back = await madeClient(service, { name: 'Back', options: ['--backchannel-logout-uri', URI] })
    assertForbidden(
      await api.call('PATCH', `/clients/${back.id}`, { backchannel_logout_uri: null }),
      'backchannel_logout_uri',
    )
    assert.equal(
      bodyOf(await api.call('PATCH', `/clients/${back.id}`, { name: 'Still', backchannel_logout_uri: URI })).name,
      'Still',
    )
  })

  test('leads no user elsewhere unseen: at a new redirect URI, those who allowed the client are asked again', async () => {
    const { id } = await create()
    const { agent } = await signedUp(service)
    await codeFor(agent, id)
    const elsewhere = 'https://elsewhere.example/callback'
    const change = (uris: string[]) => api.call('PATCH', `/clients/${id}`, { name: 'Renamed', redirect_uris: uris })
    const silent = async (uri: string) =>
      answerToClient(await agent.get(authorizePath(id, { redirect_uri: uri, prompt: 'none' })), uri)
    assert.equal((await change([URI])).status, 200)
    assert.ok((await silent(URI)).get('code'))
    assert.equal((await change([URI, elsewhere])).status, 200)
    for (const uri of [elsewhere, URI]) assert.equal((await silent(uri)).get('error'), 'consent_required')
  })

  test('asks for its scopes; writing includes reading', async () => {
    const { id } = await create()
    assert.equal((await api.call('GET', `/clients/${id}`)).status, 200)
    for (const [method, path] of [
      ['POST', '/clients'],
      ['PATCH', `/clients/${id}`],
      ['DELETE', `/clients/${id}`],
      ['POST', `/clients/${id}/secrets`],
    ] as const) {
      const answer = await reader.call(method, path, method === 'DELETE' ? undefined : {})
      assertJsonError(answer, 403, 'forbidden')
      assert.match(answer.text, /clients:write/)
    }
    const sessions = await createBackend(service, ['sessions:read'])
    for (const path of ['/clients', `/clients/${id}`])
      assertJsonError(await sessions.call('GET', path), 403, 'forbidden')
    assertJsonError(await reader.call('GET', `/users/${NOBODY}/grants`), 403, 'forbidden')
    assertJsonError(await sessions.call('DELETE', `/users/${NOBODY}/grants/${NOBODY}`), 403, 'forbidden')
  })
})

type Grant = { id: string; client_id: string; client_name: string; scopes: string[]; resource: string | null }

describe('grants in the server API', () => {
  test('of a user are listed apart from sessions, and one ends without the others', async () => {
    const [one, other] = [await madeClient(service, { name: 'One' }), await madeClient(service, { name: 'Other' })]
    const { agent } = await signedUp(service)
    const { id: userId } = await currentUser(agent)
    const first = await granted(service, agent, one)
    const second = await granted(service, agent, other, 'notes:read', { resource: 'https://notes.example.com/mcp' })
    const { grants } = (await api.call('GET', `/users/${userId}/grants`)).json<{ grants: Grant[] }>()
    assert.deepEqual(grants.map(({ client_name: name }) => name).toSorted(), ['One', 'Other'])
    const ofOther = grants.find(({ client_id: id }) => id === other.id)
    assert.deepEqual([ofOther?.scopes, ofOther?.resource], [['notes:read'], 'https://notes.example.com/mcp'])
    const listed = (await api.call('GET', `/users/${userId}/sessions`)).json<{ sessions: unknown[] }>()
    assert.equal(listed.sessions.length, 1)

    const { id: stranger } = await currentUser((await signedUp(service)).agent)
    const ofOne = grants.find(({ client_id: id }) => id === one.id)?.id ?? ''
    assert.equal((await api.call('DELETE', `/users/${stranger}/grants/${ofOne}`)).status, 204)
    await assertLive(service, first)
    for (let again = 0; again < 2; again += 1)
      assert.equal((await api.call('DELETE', `/users/${userId}/grants/${ofOne}`)).status, 204)
    await assertEnded(service, one, first)
    assertJsonError(await api.call('GET', `/users/${NOBODY}/grants`), 404, 'not_found')
    const left = (await api.call('GET', `/users/${userId}/grants`)).json<{ grants: Grant[] }>()
    assert.deepEqual(
      left.grants.map(({ id }) => id),
      [ofOther?.id],
    )
    assert.ok(second.access)
  })

  test('end by their id as sessions do, and with all sessions of the user, and with their client', async () => {
    const client = await madeClient(service)
    const ends = [
      async (userId: string, id: string) => [userId, await api.call('DELETE', `/sessions/${id}`)],
      async (userId: string) => [userId, await api.call('DELETE', `/users/${userId}/sessions`)],
    ]
    for (const end of ends) {
      const { agent, tokens } = await newlyGranted(service, client)
      const { id: userId } = await currentUser(agent)
      const { grants } = (await api.call('GET', `/users/${userId}/grants`)).json<{ grants: Grant[] }>()
      await end(userId, grants[0]?.id ?? '')
      await assertEnded(service, client, tokens)
    }
    const made = await create()
    const { tokens } = await newlyGranted(service, { id: made.id, secret: String(made.secret) })
    await api.call('PATCH', `/clients/${made.id}`, { disabled: true })
    await api.call('PATCH', `/clients/${made.id}`, { disabled: false })
    await assertEnded(service, { id: made.id, secret: String(made.secret) }, tokens)
  })
})

test('without SVC_CLIENTS, none of these routes exists', async (t) => {
  const other = await startService({ t })
  const backend = await createBackend(other, ['clients:write', 'sessions:read', 'sessions:write'])
  for (const [method, path] of [
    ['GET', '/clients'],
    ['POST', '/clients'],
    ['PATCH', `/clients/${NOBODY}`],
    ['DELETE', `/clients/${NOBODY}`],
    ['POST', `/clients/${NOBODY}/secrets`],
    ['GET', `/users/${NOBODY}/grants`],
    ['DELETE', `/users/${NOBODY}/grants/${NOBODY}`],
  ] as const)
    assert.equal(
      (await backend.call(method, path, method === 'POST' || method === 'PATCH' ? {} : undefined)).status,
      404,
      `${method} ${path}`,
    )
})
