// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { exportLines, importJson, importLines, type Line, problemsOf, toLines } from '../../support/service/imports.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

type Named = { id: string; email: string; name?: string | null; invite_url?: string; updated_at: string }

const receiver = await startWebhookReceiver()
const smtp = await startSmtpServer()
const cwd = temporaryDirectory()
/** Replicas with the same users, as while the setting changes. */
const start = (mode: string) =>
  startService({
    cwd,
    env: {
      ...smtp.env,
      SVC_BASE_URL: 'http://svc.example',
      SVC_EMAIL_VERIFICATION: 'off',
      SVC_WEBHOOK_URL: receiver.url,
      SVC_WEBHOOK_SECRET: 'a secret of the tests',
      SVC_NAMES: mode,
    },
  })
const off = await start('off')
const optional = await start('optional')
const required = await start('required')
const backend = await createBackend(optional, ['users:write', 'credentials:write', 'audit:read'])

const created = async (given: object = {}, service = optional): Promise<Named> => {
  const answer = await backend.at(service).call('POST', '/users', { email: newPerson().email, ...given })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<Named>()
}
const patch = (id: string, changes: object, service = optional) =>
  backend.at(service).call('PATCH', `/users/${id}`, changes)
const nameOf = async (id: string, service = optional) =>
  (await backend.at(service).call('GET', `/users/${id}`)).json<Named>().name
const messageOf = (answer: Answer): string => {
  assertJsonError(answer, 422, 'unprocessable')
  const { error } = answer.json<{ error: { field: string; message: string } }>()
  assert.equal(error.field, 'name', answer.text)
  return error.message
}
const deletedEventOf = async (id: string) => {
  await backend.call('DELETE', `/users/${id}`)
  await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
  return receiver.deliveries.map(({ event }) => event).filter(({ data }) => data.user_id === id)
}

describe('§10.5 the name of a user', () => {
  test('is created, read, changed, and taken away by null', async () => {
    const { id, name } = await created({ name: ' Jose\u0301 ' })
    assert.equal(name, 'José')
    for (const [changes, expected] of [
      [{ roles: ['x'] }, 'José'],
      [{ name: 'Ada Lovelace 👩‍💻' }, 'Ada Lovelace 👩‍💻'],
      [{ name: null }, null],
      [{ name: null }, null],
      [{ name: 'Ada' }, 'Ada'],
    ] as const) {
      const answer = await patch(id, changes)
      assert.deepEqual([answer.status, answer.json<Named>().name], [200, expected], answer.text)
      assert.equal(await nameOf(id, required), expected)
    }
    for (const given of [{}, { name: null }]) assert.equal((await created(given)).name, null)
  })

  const refused: [what: string, name: unknown][] = [
    ['an empty text', ''],
    ['white space', ' \n '],
    ['101 characters', 'x'.repeat(101)],
    ['101 emoji', '😀'.repeat(101)],
    ['a line break', 'a\nb'],
    ['a mark of direction', 'a\u202eb'],
    ['an isolate', '\u2068a\u2069'],
    ['half of a character', 'a\ud83d'],
    ['a number', 7],
    ['a list', ['Ada']],
    ['an object', { first: 'Ada' }],
    ['true', true],
  ]
  for (const [what, name] of refused)
    test(`is 422 with its field, and changes nothing: ${what}`, async () => {
      const { email } = newPerson()
      assert.match(messageOf(await backend.call('POST', '/users', { email, name })), /A name has 1 to 100|text or null/)
      assert.equal((await backend.call('GET', `/users?email=${email}`)).json<{ users: unknown[] }>().users.length, 0)
      const { id } = await created({ name: 'Ada' })
      messageOf(await patch(id, { name, roles: ['admin'] }))
      const now = (await backend.call('GET', `/users/${id}`)).json<Named & { roles: string[] }>()
      assert.deepEqual([now.name, now.roles], ['Ada', []])
    })

  test('a member that stands twice is refused', async () => {
    const { id } = await created({ name: 'Ada' })
    assertJsonError(await backend.call('PATCH', `/users/${id}`, '{"name":"x","name":"y"}'), 400, 'invalid_request')
    assert.equal(await nameOf(id), 'Ada')
  })

  test('a change is told, recorded and logged once; one that changes nothing is not', async () => {
    const { id, email, updated_at } = await created({ name: 'Unspoken One' })
    for (const name of ['Unspoken Two', 'Unspoken Two', ' Unspoken Two ', null, null])
      assert.equal((await patch(id, { name })).status, 200)
    const records = (await backend.call('GET', `/audit?user_id=${id}&type=name.changed`)).text
    assert.equal(records.match(/"type":"name.changed"/g)?.length, 2)
    assert.doesNotMatch(records, /Unspoken/)
    const lines = optional.logLines().filter(({ user_id, event }) => user_id === id && event === 'name_change')
    assert.equal(lines.length, 2)
    const now = (await backend.call('GET', `/users/${id}`)).json<Named>()
    assert.ok(now.updated_at >= updated_at)
    const mails = [await smtp.receivedFor(email, 1), await smtp.receivedFor(email, 2)]
    for (const { subject, text } of mails) {
      assert.match(subject, /\bname\b.* was changed/)
      assert.doesNotMatch(text, /Unspoken/, 'text of a request')
    }
    const events = await deletedEventOf(id)
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.changed]),
      [
        ['user.created', undefined],
        ['user.updated', ['name']],
        ['user.updated', ['name']],
        ['user.deleted', undefined],
      ],
    )
    assert.doesNotMatch(JSON.stringify(events), /Unspoken/)
  })

  test('the account page announces a change too', async () => {
    const { agent } = await signedUp(optional)
    const { id } = await currentUser(agent)
    for (const name of ['Ada', 'Ada', 'Grace']) await agent.post('/auth/account/name', { name })
    const changes = (await deletedEventOf(id)).flatMap(({ data }) => (data.changed ? [data.changed] : []))
    assert.deepEqual(changes, [['name'], ['name']])
  })

  test('is searched, in any case of any letters and without wildcards', async () => {
    const tag = newPerson().username
    const { id } = await created({ name: `ÉLODIE Ärger_${tag} 100%` })
    await created({ name: `Elodie Arger ${tag}` })
    for (const text of [
      `élodie ärger_${tag}`,
      `E\u0301LODIE A\u0308RGER_${tag}`,
      `_${tag} 100%`,
      `R_${tag.toUpperCase()} 1`,
    ]) {
      const found = (await backend.call('GET', `/users?search=${encodeURIComponent(text)}`)).json<{ users: Named[] }>()
      assert.deepEqual(
        found.users.map((user) => user.id),
        [id],
        text,
      )
      const listed = await runJsonCommandOf<Named[]>(optional, ['users', 'list', '--search', text])
      assert.deepEqual(
        listed.map((user) => user.id),
        [id],
        text,
      )
    }
    assert.equal((await patch(id, { name: 'Grace' })).status, 200)
    const found = await backend.call('GET', `/users?search=${encodeURIComponent(`élodie ärger_${tag}`)}`)
    assert.deepEqual(found.json<{ users: Named[] }>().users, [])
  })
})

describe('§10.5 SVC_NAMES', () => {
  test('off: no user has the field, and a request that gives it is 422', async () => {
    const { id, ...user } = await created({ name: 'Ada' })
    assert.ok('name' in user)
    const shown = (await backend.at(off).call('GET', `/users/${id}`)).json<Named>()
    assert.ok(!('name' in shown))
    for (const name of ['Grace', '', null]) {
      assert.match(messageOf(await patch(id, { name }, off)), /SVC_NAMES=off/)
      const email = newPerson().email
      assert.match(messageOf(await backend.at(off).call('POST', '/users', { email, name })), /SVC_NAMES=off/)
    }
    assert.equal((await patch(id, { roles: ['x'] }, off)).status, 200)
    assert.equal(await nameOf(id), 'Ada')
  })

  test('required: a new user needs a name, but for one who is invited; null is 422', async () => {
    for (const given of [{}, { name: null }]) {
      const answer = await backend.at(required).call('POST', '/users', { email: newPerson().email, ...given })
      assert.equal(messageOf(answer), 'Enter a name.')
    }
    const { id, name } = await created({ invite: true }, required)
    assert.equal(name, null)
    assert.equal((await patch(id, { roles: ['x'] }, required)).status, 200, 'what is not given is not asked for')
    assert.equal(messageOf(await patch(id, { name: null }, required)), 'Enter a name.')
    assert.equal((await created({ name: 'Ada' }, required)).name, 'Ada')
  })
})

test('§4.13 X-Svc-User-Name: percent-encoded UTF-8, `-` without a name', async () => {
  const { agent } = await signedUp(optional)
  for (const [name, header] of [
    ['', '-'],
    ['-', '%2D'],
    ['--', '--'],
    ['Ada Lovelace', 'Ada Lovelace'],
    ['José 100% 😀', 'Jos%C3%A9 100%25 %F0%9F%98%80'],
    ['عمر', '%D8%B9%D9%85%D8%B1'],
  ] as const) {
    assertRedirect(await agent.post('/auth/account/name', { name }), '/auth/account?done=name')
    for (const path of ['/auth/check', '/auth/check/forward/x']) {
      const { headers } = await at(required, agent).get(path)
      assert.equal(headers['x-svc-user-name'], header)
      if (header !== '-') assert.equal(decodeURIComponent(header), name)
    }
    assert.equal((await at(off, agent).get('/auth/check')).headers['x-svc-user-name'], undefined)
  }
})

describe('commands', () => {
  test('`svc users create`, `show` and `set-name`', async () => {
    const { email, password } = newPerson()
    const made = await runJsonCommandOf<Named>(optional, ['users', 'create', email, '--name', 'Ada'], password)
    assert.equal(made.name, 'Ada')
    assert.match(await runCommandOf(optional, ['users', 'show', email]), /^name +Ada$/m)
    assert.match(await runCommandOf(optional, ['users', 'set-name', email, 'Ada L']), /has the name Ada L\./)
    assert.equal(await nameOf(made.id), 'Ada L')
    assert.match(await runCommandOf(optional, ['users', 'set-name', email]), /has no name now\./)
    assert.equal((await runJsonCommandOf<Named>(optional, ['users', 'show', email])).name, null)
    assert.doesNotMatch(await runCommandOf(optional, ['users', 'show', email]), /^name /m)
  })

  test('what is refused is named, and changes nothing', async () => {
    const { email, password } = newPerson()
    const { id } = await created({ name: 'Ada' })
    for (const [service, args, message] of [
      [optional, ['create', email, '--name', 'x\u202ey'], /name has 1 to 100 characters/],
      [optional, ['set-name', id, ''], /name has 1 to 100 characters/],
      [optional, ['invite', email, '--name', 'x'.repeat(101)], /name has 1 to 100 characters/],
      [required, ['create', email], /[Ee]nter a name/],
      [required, ['set-name', id], /[Ee]nter a name/],
      [off, ['create', email, '--name', 'Ada'], /SVC_NAMES=off/],
      [off, ['set-name', id, 'Grace'], /SVC_NAMES=off/],
      [off, ['invite', email, '--name', 'Ada'], /SVC_NAMES=off/],
    ] as const) {
      const { code, stderr } = await service.cli(['users', ...args], { input: password })
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, message)
    }
    assert.equal((await optional.cli(['users', 'show', email])).code, 1)
    assert.equal(await nameOf(id), 'Ada')
  })
})

const lineOf = async (email: string): Promise<Line> =>
  (await exportLines(optional)).find((line) => line.email === email) ?? {}

describe('import and export', () => {
  test('carry names, and say which line has one that is not accepted', async () => {
    const people = Array.from({ length: 6 }, newPerson)
    const names = ['José', undefined, null, '', 7, 'x\u202ey']
    const lines = people.map(({ email }, index) => ({ email, name: names[index] }))
    const result = await importJson(optional, lines)
    assert.deepEqual([result.imported, result.failed, result.not_carried_over], [4, 2, {}])
    assert.deepEqual(
      [...problemsOf(result)].map(([line, text]) => [line, text.slice(0, 20)]),
      [
        [5, 'name: It must be a s'],
        [6, 'name: A name has 1 t'],
      ],
    )
    const kept = await Promise.all(people.slice(0, 4).map(({ email }) => lineOf(email)))
    assert.deepEqual(
      kept.map(({ name }) => name),
      ['José', undefined, undefined, undefined],
    )
    assert.ok(!('name' in (kept[1] ?? {})))
    await runCommandOf(optional, ['users', 'delete', people[0]?.email ?? '', '--yes'])
    assert.equal((await importLines(optional, toLines([kept[0] ?? {}]))).code, 0, 'what is exported can be imported')
    assert.equal((await lineOf(people[0]?.email ?? '')).name, 'José')
  })

  test('where a name is required, a file need not have it; where there are none, it is left out and counted', async () => {
    const [one, two] = [newPerson().email, newPerson().email]
    assert.equal((await importJson(required, [{ email: one }])).imported, 1)
    const result = await importJson(off, [{ email: two, name: 'x\u202ey' }])
    assert.deepEqual([result.imported, result.not_carried_over], [1, { names: 1 }])
    assert.deepEqual([(await lineOf(one)).name, (await lineOf(two)).name], [undefined, undefined])
  })
})

test('the documents of both versions have the field', async () => {
  for (const version of ['v1', 'v2']) {
    const document = (await newAgent(optional).get(`/auth/api/${version}/openapi.json`)).json<{
      components: { schemas: { User: { required: string[]; properties: Record<string, { type?: unknown }> } } }
    }>()
    const { required: always, properties } = document.components.schemas.User
    assert.deepEqual(properties.name?.type, ['string', 'null'])
    assert.ok(!always.includes('name'), 'it is left out with SVC_NAMES=off')
  }
})

test('a taken email says the same, whatever the name is', async () => {
  const { person } = await signedUp(optional)
  const { password } = newPerson()
  for (const name of ['', 'Ada']) assertPage(await signUp(newAgent(optional), { ...person, password, name }), 409)
})
