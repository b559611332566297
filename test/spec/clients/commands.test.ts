// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser } from '../../support/client/accounts.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  consentForm,
  REDIRECT_URI as URI,
} from '../../support/clients/authorization.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { assertEnded, assertOAuthError, newlyGranted, send, tokensIn, trade } from '../../support/clients/tokens.ts'

const HOUR_MS = 3_600_000

type Shown = { id: string; name: string; secret?: string; [field: string]: unknown }

const clock = turnedClock()
const service = await startService({ clock, env: { ...CLIENT_SETTINGS, SVC_RATE_LIMIT: 'on' } })
const create = (name: string, ...options: string[]): Promise<Shown> =>
  runJsonCommandOf(service, ['clients', 'create', name, '--redirect-uri', URI, ...options])
const show = (id: string): Promise<Shown> => runJsonCommandOf(service, ['clients', 'show', id])
const change = (...args: string[]): Promise<Shown> => runJsonCommandOf(service, ['clients', 'change', ...args])

const recorded = async (id: string): Promise<string[]> => {
  const events = await runJsonCommandOf<
    { type: string; actor: string; details: { client_id?: string; reason?: string } }[]
  >(service, ['audit', 'list', '--limit', '200'])
  const own = events.filter(({ details }) => details.client_id === id)
  return own.map(({ type, actor, details: { reason } }) => [actor, type, reason].filter(Boolean).join(' ')).toReversed()
}

describe('svc clients create', () => {
  test('makes a confidential client, whose secret is shown once and stored as a hash', async () => {
    const { secret = '', ...made } = await create('Notes for all')
    assert.match(secret, /^svc_cs_[\w-]{43}$/)
    assert.match(made.id, /^[\w-]+$/)
    assert.deepEqual(
      { ...made, id: '', created_at: '' },
      {
        id: '',
        name: 'Notes for all',
        type: 'web',
        kind: 'operator',
        redirect_uris: [URI],
        logout_uris: [],
        backchannel_logout_uri: null,
        scopes: null,
        resources: [],
        first_party: false,
        require_mfa: false,
        disabled: false,
        created_at: '',
        last_used_at: null,
      },
    )
    assert.deepEqual(await show(made.id), made)
    assert.ok(!(await runCommandOf(service, ['clients', 'show', made.id])).includes('svc_cs_'))
    assert.ok(!(await (await openDatabase(service)).contents()).includes(secret.slice(7)))
    assert.deepEqual(await recorded(made.id), ['cli client.created'])
  })

  test('makes public clients, which have no secret, with all that was given', async () => {
    for (const type of ['native', 'browser']) {
      const options = ['--type', type, '--logout-uri', `${URI}/out`, '--scope', 'openid,notes:read', '--require-mfa']
      const made = await create(
        `A ${type} one`,
        ...options,
        '--resource',
        'https://files.example.com/',
        '--first-party',
      )
      assert.ok(!('secret' in made))
      assert.deepEqual(made.scopes, ['openid', 'notes:read'])
      assert.deepEqual(made.resources, ['https://files.example.com'], 'as the setting spells it')
      assert.deepEqual([made.require_mfa, made.first_party, made.logout_uris], [true, true, [`${URI}/out`]])
    }
  })

  test('warns of a private-use scheme without a dot', async () => {
    const args = ['clients', 'create', 'n', '--type', 'native', '--redirect-uri']
    assert.match(
      (await service.cli([...args, 'notes:/cb'])).stderr,
      /warning: other programs can claim the scheme notes:/,
    )
    assert.doesNotMatch((await service.cli([...args, 'com.example.notes:/cb'])).stderr, /warning/)
  })

  const refused: [string, string[], RegExp][] = [
    ['a name of 61 characters', ['x'.repeat(61)], /1 to 60 characters/],
    ['a name with a line break', ['a\nb'], /1 to 60 characters/],
    ['a name that turns the direction', ['a\u202Eb'], /control and direction/],
    ['a name that nobody sees', ['\u200d'], /1 to 60/],
    ['a name of letters that nobody sees', ['\u3164\u2800\u115f'], /1 to 60/],
    [
      'a name whose marks cover other words',
      [`A${'\u0337\u0322\u0360\u0316'.repeat(3)}`],
      /at most four marks on one letter/,
    ],
    [
      'an unknown scope',
      ['x', '--scope', 'openid,notes:delete'],
      /no scope "notes:delete": there are openid, .*notes:write/,
    ],
    ['an unknown resource', ['x', '--resource', 'https://other.example.com'], /no resource .*SVC_CLIENT_RESOURCES has/],
    ['a scheme of browsers', ['x', '--redirect-uri', 'javascript:alert(1)'], /must be an https URL/],
    ['a private-use scheme of a web client', ['x', '--redirect-uri', 'com.example.a:/cb'], /must be an https URL/],
    ['a logout URI with a fragment', ['x', '--logout-uri', 'https://a.example/#x'], /no fragment/],
    [
      'a back-channel URI that is plain http',
      ['x', '--backchannel-logout-uri', 'http://a.example/'],
      /must be an https URL/,
    ],
    [
      'a back-channel URI of a public client',
      ['x', '--type', 'native', '--backchannel-logout-uri', URI],
      /type web alone/,
    ],
  ]
  for (const [what, [name = '', ...options], message] of refused) {
    test(`refuses ${what}, says what would be accepted, and makes nothing`, async () => {
      const before = await runJsonCommandOf<Shown[]>(service, ['clients', 'list'])
      const { code, stderr } = await service.cli(['clients', 'create', name, '--redirect-uri', URI, ...options])
      assert.equal(code, 1, stderr)
      assert.match(stderr, message)
      assert.deepEqual(await runJsonCommandOf(service, ['clients', 'list']), before)
    })
  }

  test('needs a redirect URI, and knows its types', async () => {
    assert.equal((await service.cli(['clients', 'create', 'x'])).code, 2)
    assert.equal((await service.cli(['clients', 'create', 'x', '--redirect-uri', URI, '--type', 'spa'])).code, 2)
  })
})

describe('svc clients change', () => {
  test('changes what is given, and an empty text takes a value away', async () => {
    const { id } = await create(
      'Changes',
      '--scope',
      'openid',
      '--backchannel-logout-uri',
      `${URI}/back`,
      '--first-party',
    )
    const other = 'http://127.0.0.1/cb'
    const changed = await change(id, '--name', 'Changed', '--redirect-uri', other, '--require-mfa', '--no-first-party')
    assert.deepEqual([changed.name, changed.redirect_uris], ['Changed', [other]])
    assert.deepEqual([changed.require_mfa, changed.first_party, changed.scopes], [true, false, ['openid']])
    const emptied = await change('Changed', '--scope', '', '--backchannel-logout-uri', '', '--no-require-mfa')
    assert.deepEqual([emptied.scopes, emptied.backchannel_logout_uri, emptied.require_mfa], [null, null, false])
    assert.deepEqual(await show(id), emptied)
    assert.deepEqual(await recorded(id), ['cli client.created', 'cli client.changed', 'cli client.changed'])
  })

  test('refuses a change of a value that is not accepted, and a client without redirect URI', async () => {
    const made = await create('Stays')
    for (const args of [
      ['--redirect-uri', ''],
      ['--redirect-uri', 'http://a.example/'],
      ['--name', ''],
      ['--scope', 'x'],
    ])
      assert.equal((await service.cli(['clients', 'change', made.id, ...args])).code, 1, args.join(' '))
    assert.equal((await service.cli(['clients', 'change', made.id])).code, 2)
    const { secret: _, ...stays } = made
    assert.deepEqual(await show(made.id), stays)
  })

  test('finds a client by its name unless several have it', async () => {
    await create('Twin')
    assert.equal((await show('Twin')).name, 'Twin')
    await create('Twin')
    const { code, stderr } = await service.cli(['clients', 'show', 'Twin'])
    assert.equal(code, 1)
    assert.match(stderr, /several clients/)
    assert.match((await service.cli(['clients', 'show', 'Nobody'])).stderr, /there is no client "Nobody"/)
  })
})

const ask = ({ id }: Shown, secret: string | undefined, address = '203.0.113.7') => {
  const fields = { grant_type: 'refresh_token', refresh_token: 'svc_rt_x', client_id: id, client_secret: secret }
  return send(service, 'token', fields, { 'x-forwarded-for': address })
}

describe('a client secret', () => {
  test('is replaced by a new one, and the former one stays good for 24 hours', async () => {
    const client = await create('Rotates')
    const rotated = await runJsonCommandOf<Shown>(service, ['clients', 'rotate-secret', client.id])
    assert.notEqual(rotated.secret, client.secret)
    const outcome = async (secret = '') => (await trade(service, { ...client, secret }, 'svc_ac_x')).status
    // 400: the client is known, and the code is not good.
    assert.deepEqual([await outcome(client.secret), await outcome(rotated.secret)], [400, 400])
    await clock.turnTo(24 * HOUR_MS - 60_000)
    assert.equal(await outcome(client.secret), 400)
    await clock.turnTo(24 * HOUR_MS + 60_000)
    assert.deepEqual([await outcome(client.secret), await outcome(rotated.secret)], [401, 400])
    assert.deepEqual(await recorded(client.id), ['cli client.created', 'cli client.secret_rotated'])
  })

  test('that is wrong is told off 10 times a minute in a network, and a good one passes all the while', async () => {
    const client = await create('Guessed')
    const wrong = `svc_cs_${'x'.repeat(43)}`
    for (let tries = 0; tries < 10; tries += 1) assertOAuthError(await ask(client, wrong), 401, 'invalid_client')
    const limited = await ask(client, wrong)
    assertOAuthError(limited, 429, 'temporarily_unavailable')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assertOAuthError(await ask(client, client.secret), 400, 'invalid_grant')
    assertOAuthError(await ask(client, wrong, '203.0.113.8'), 401, 'invalid_client')
    assertOAuthError(await ask(await create('Not guessed'), wrong), 401, 'invalid_client')
  })

  test('does not exist for a public client', async () => {
    const { id } = await create('Public', '--type', 'native')
    assert.match((await service.cli(['clients', 'rotate-secret', id])).stderr, /public/)
  })
})

describe('a client that is disabled or deleted', () => {
  test('loses its grants and codes at once; enabled again, it can be used, and has none of them back', async () => {
    const client = await create('Disabled')
    const { agent, tokens } = await newlyGranted(service, client)
    const code = await codeFor(agent, client.id)
    await runCommandOf(service, ['clients', 'disable', client.id])
    assert.equal((await agent.get(authorizePath(client.id))).status, 400)
    assertOAuthError(await trade(service, client, code), 401, 'invalid_client')
    await runCommandOf(service, ['clients', 'enable', client.id])
    assertOAuthError(await trade(service, client, code), 400, 'invalid_grant')
    await assertEnded(service, client, tokens)
    assert.deepEqual(await runJsonCommandOf(service, ['grants', 'list', '--client', client.id]), [])
    const page = await agent.get(authorizePath(client.id, { prompt: 'consent' }))
    assert.ok(answerToClient(await allow(agent, page)).get('code'))
    const events = await recorded(client.id)
    assert.deepEqual(events.slice(2, 5), [
      'cli client.changed disabled',
      'cli grant.ended client',
      'cli client.changed enabled',
    ])
  })

  test('is gone with its grants once it is deleted', async () => {
    const client = await create('Deleted')
    const { agent } = await newlyGranted(service, client)
    await runCommandOf(service, ['clients', 'delete', client.id])
    assert.equal((await service.cli(['clients', 'show', client.id])).code, 1)
    assert.equal((await agent.get(authorizePath(client.id))).status, 400)
    assert.deepEqual((await recorded(client.id)).slice(-2), ['cli grant.ended client', 'cli client.deleted'])
  })
})

describe('svc grants', () => {
  test('lists and revokes the grants of a user, of a client, or of both, with their codes and consents', async () => {
    const [one, other] = [await create('Grants one'), await create('Grants other')]
    const { agent } = await newlyGranted(service, one)
    const user = await currentUser(agent)
    tokensIn(await trade(service, other, await codeFor(agent, other.id)))
    const stranger = await newlyGranted(service, one)
    const list = async (...args: string[]) =>
      (await runJsonCommandOf<{ client_id: string; user_id: string }[]>(service, ['grants', 'list', ...args])).length
    assert.deepEqual([await list('--user', user.email), await list('--client', one.id)], [2, 2])
    assert.equal(await list('--user', user.id, '--client', one.id), 1)
    const revoke = (...args: string[]) => runJsonCommandOf<{ ended: number }>(service, ['grants', 'revoke', ...args])
    assert.deepEqual(await revoke('--user', user.id, '--client', one.id), { ended: 1 })
    assert.deepEqual([await list('--user', user.id), await list('--client', one.id)], [1, 1])
    assert.deepEqual(await revoke('--client', 'Grants one'), { ended: 1 })
    assert.equal(await list('--user', (await currentUser(stranger.agent)).id), 0)
    assert.deepEqual(await revoke('--user', user.id), { ended: 1 })
    const asked = await agent.get(authorizePath(one.id))
    const code = await codeFor(agent, other.id)
    assert.deepEqual([(await allow(agent, asked)).status, await revoke('--user', user.id)], [200, { ended: 0 }])
    assertOAuthError(await trade(service, other, code), 400, 'invalid_grant')
    consentForm(await agent.get(authorizePath(one.id)))
    const later = await codeFor(agent, one.id)
    assert.deepEqual(await revoke('--client', one.id), { ended: 0 })
    assertOAuthError(await trade(service, one, later), 400, 'invalid_grant')
    assert.equal((await service.cli(['grants', 'revoke'])).code, 2)
  })
})

test('with SVC_CLIENTS=off, commands work and say so', async () => {
  const { code, stderr } = await service.cli(['clients', 'list'], { env: { SVC_CLIENTS: 'off' } })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /SVC_CLIENTS is off/)
})
