// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request as sendRequest } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { AdminError, createAdmin, SvcUnavailableError } from '../../sdk/src/admin.ts'
import { currentUser, loggedIn, signedUp } from '../support/client/accounts.ts'
import { CLIENT_SETTINGS } from '../support/clients/authorization.ts'
import { assertEnded, granted } from '../support/clients/tokens.ts'
import { startServer } from '../support/network/http-server.ts'
import { openDatabase } from '../support/database/database.ts'
import { storePasskey } from '../support/second-factor/stored-factors.ts'
import { startService } from '../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })

const newKey = async (...scopes: string[]): Promise<string> => {
  const options = scopes.flatMap((scope) => ['--scope', scope])
  const { stdout, stderr, code } = await service.cli(['api-keys', 'create', randomUUID().slice(0, 8), ...options])
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

const apiKey = await newKey('users:write', 'credentials:write', 'sessions:read', 'sessions:write', 'clients:write')
const admin = createAdmin({ url: service.url, apiKey })
const newEmail = (): string => `${randomUUID()}@example.com`

const refusalOf = async (promise: Promise<unknown>): Promise<AdminError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AdminError, String(error))
  return error
}

/** A proxy in front of svc that loses the answers of the first requests, and notes what passes. */
const loseAnswers = async (t: TestContext, count: number) => {
  const passed: { method: string | undefined; key: string | string[] | undefined }[] = []
  const url = await startServer(t, (request, response) => {
    const { method, headers } = request
    passed.push({ method, key: headers['idempotency-key'] })
    const isLost = passed.length <= count
    const onward = sendRequest(service.url + request.url, {
      method,
      headers: { ...headers, host: new URL(service.url).host },
    })
    onward.once('response', (answer) => {
      if (isLost) return void answer.resume().once('end', () => response.destroy())
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      return void answer.pipe(response)
    })
    request.pipe(onward)
  })
  return { admin: createAdmin({ url, apiKey }), passed }
}

describe('createAdmin', () => {
  test('creates, finds, changes and deletes a user', async () => {
    const email = newEmail()
    const created = await admin.users.create({ email, roles: ['editor'], invite: true })
    assert.ok(created.invite_url?.startsWith(service.url))
    const found = await admin.users.get(created.id)
    assert.deepEqual([found.email, found.roles, found.has_password], [email, ['editor'], false])
    const { url } = await admin.users.createLink(created.id, { purpose: 'invite' })
    assert.ok(url.startsWith(service.url))
    const database = await openDatabase(service)
    await storePasskey(database, created.id)
    assert.equal(await admin.users.resetSecondFactors(created.id), undefined)
    assert.equal((await admin.users.get(created.id)).passkeys, 1)
    await admin.users.resetSecondFactors(created.id, { passkeys: true })
    assert.equal((await admin.users.get(created.id)).passkeys, 0)
    const changed = await admin.users.update(created.id, { roles: ['admin'], disabled: true })
    assert.deepEqual([changed.roles, changed.disabled], [['admin'], true])
    assert.equal(await admin.users.delete(created.id), undefined)
    await admin.users.delete(created.id)
    assert.equal((await refusalOf(admin.users.get(created.id))).code, 'not_found')
  })

  test('goes through all pages, with a filter or without, and gives nobody for no ids', async () => {
    const role = `r${randomUUID()}`
    const emails = [newEmail(), newEmail(), newEmail()]
    for (const email of emails) await admin.users.create({ email, roles: [role] })
    const users = await Array.fromAsync(admin.users.all({ role, limit: 2 }))
    assert.deepEqual(
      users.map(({ email }) => email),
      emails,
    )
    const ids = users.map(({ id }) => id)
    assert.equal((await admin.users.list({ id: ids.slice(1), disabled: false })).users.length, 2)
    assert.deepEqual(await admin.users.list({ id: [] }), { users: [], next_cursor: null })
  })

  test('lists and ends sessions', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const other = await loggedIn(service, person)
    const [latest] = await admin.sessions.list(id)
    assert.ok(latest)
    await admin.sessions.end(latest.id)
    assert.equal((await admin.sessions.list(id)).length, 1)
    await admin.sessions.endAll(id)
    const statuses = [await agent.get('/auth/api/v1/user'), await other.get('/auth/api/v1/user')].map(
      ({ status }) => status,
    )
    assert.deepEqual(statuses, [401, 401])
  })

  test('makes, changes and deletes clients, and ends what they were given', async () => {
    const redirect_uris = ['https://app.example.net/callback']
    const [key, made] = [{ idempotencyKey: randomUUID() }, { name: 'Notebook', redirect_uris }]
    const created = await admin.clients.create(made, key)
    assert.equal((await admin.clients.create(made, key)).secret, created.secret)
    assert.deepEqual([created.type, created.redirect_uris, created.first_party], ['web', redirect_uris, false])
    assert.ok((await admin.clients.list()).some(({ id }) => id === created.id))
    const { secret } = await admin.clients.rotateSecret(created.id)
    assert.notEqual(secret, created.secret)

    const { agent } = await signedUp(service)
    const { id: userId } = await currentUser(agent)
    const client = { id: created.id, secret }
    const tokens = await granted(service, agent, client)
    const [grant, ...others] = await admin.grants.list(userId)
    assert.ok(grant)
    assert.deepEqual([grant.client_name, others], ['Notebook', []])
    assert.equal(await admin.grants.end(userId, grant.id), undefined)
    assert.deepEqual(await admin.grants.list(userId), [])
    await assertEnded(service, client, tokens)

    assert.equal((await admin.clients.update(created.id, { disabled: true })).disabled, true)
    assert.equal((await refusalOf(admin.clients.update(created.id, { first_party: true }))).status, 403)
    assert.equal(await admin.clients.delete(created.id), undefined)
    await admin.clients.delete(created.id)
    assert.equal((await refusalOf(admin.clients.get(created.id))).code, 'not_found')
  })

  test('tells what svc refuses, with the field and the request', async () => {
    const email = newEmail()
    await admin.users.create({ email })
    const taken = await refusalOf(admin.users.create({ email }))
    assert.deepEqual([taken.status, taken.code, taken.field], [409, 'conflict', 'email'])
    assert.ok(service.logs().includes(taken.requestId ?? 'none'))
    const invalid = await refusalOf(admin.users.create({ email: 'nowhere' }))
    assert.deepEqual([invalid.status, invalid.field], [422, 'email'])
    assert.equal((await refusalOf(admin.users.list({ limit: 0 }))).status, 400)
    const wrong = createAdmin({ url: service.url, apiKey: `svc_sk_${'x'.repeat(43)}` })
    assert.equal((await refusalOf(wrong.users.list())).status, 401)
    const reader = createAdmin({ url: service.url, apiKey: await newKey('users:read') })
    assert.equal((await refusalOf(reader.users.create({ email: newEmail() }))).status, 403)
  })

  test('an id is one segment of the address, whatever is in it: one that an address would lose is not sent', async (t) => {
    for (const id of ['../../user', 'a/b?c#d', '%2e%2e'])
      assert.equal((await refusalOf(admin.users.get(id))).status, 404)
    const asked: (string | undefined)[] = []
    const url = await startServer(t, ({ url: path }, response) => {
      asked.push(path)
      response.writeHead(204).end()
    })
    const { users, sessions, clients, grants } = createAdmin({ url, apiKey })
    for (const id of ['..', '.', ''])
      for (const call of [
        users.get(id),
        users.update(id, { disabled: true }),
        users.delete(id),
        users.resetSecondFactors(id),
        users.createLink(id, { purpose: 'reset' }),
        sessions.list(id),
        sessions.end(id),
        sessions.endAll(id),
        clients.get(id),
        clients.update(id, { disabled: true }),
        clients.rotateSecret(id),
        clients.delete(id),
        grants.list(id),
        grants.end(id, id),
        grants.end('a', id),
      ])
        assert.equal((await refusalOf(call)).code, 'not_found', id)
    assert.deepEqual(asked, [])
  })

  test('has one effect where answers are lost on the way', async (t) => {
    const lossy = await loseAnswers(t, 2)
    const email = newEmail()
    const created = await lossy.admin.users.create({ email, invite: true })
    assert.equal(created.email, email)
    assert.deepEqual(new Set(lossy.passed.map(({ key }) => key)).size, 1)
    assert.equal(lossy.passed.length, 3)
    await lossy.admin.users.get(created.id)
    assert.equal(lossy.passed[3]?.key, undefined)
  })

  test('has one effect for all calls with a key of the application', async () => {
    const [email, idempotencyKey] = [newEmail(), randomUUID()]
    const first = await admin.users.create({ email, invite: true }, { idempotencyKey })
    assert.deepEqual(await admin.users.create({ email, invite: true }, { idempotencyKey }), first)
  })

  test('says that svc is unavailable where it does not answer as svc, and sends the key nowhere else', async (t) => {
    let asked = 0
    const url = await startServer(t, (_, response) => {
      asked++
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await assert.rejects(createAdmin({ url, apiKey }).users.list(), SvcUnavailableError)
    assert.equal(asked, 1)
    const page = await startServer(t, (_, response) => void response.end('<p>The application</p>'))
    await assert.rejects(createAdmin({ url: page, apiKey }).users.list(), SvcUnavailableError)
    await assert.rejects(createAdmin({ url: 'http://127.0.0.1:1', apiKey }).users.list(), SvcUnavailableError)
  })

  test('refuses what is no key of an idempotent call, before it sends anything', async () => {
    for (const idempotencyKey of ['', 'a b', 'ü', 'x'.repeat(256)]) {
      const call = admin.users.create({ email: newEmail() }, { idempotencyKey })
      await assert.rejects(call, { name: 'TypeError', message: /^idempotencyKey must have/ })
    }
  })

  test('refuses what is no key', () => {
    for (const wrong of ['', 'secret', `${apiKey}\n`, `Bearer ${apiKey}`]) {
      assert.throws(() => createAdmin({ apiKey: wrong }), /^TypeError: apiKey must be a key/)
    }
  })
})
