// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { CLIENT_ERRORS, LOGIN_OUTCOMES, PASSKEY_OUTCOMES } from '../../../src/http/request-metrics.ts'
import { adminSettings } from '../../support/admin/origin-admin.ts'
import {
  type Person,
  currentUser,
  logIn,
  newAgent,
  newPerson,
  signedUp,
  signUp,
} from '../../support/client/accounts.ts'
import { assertErrorPage, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  consentForm,
  madeClient,
} from '../../support/clients/authorization.ts'
import { newlyGranted, refresh as refreshOfClient, tokensIn, trade, userInfo } from '../../support/clients/tokens.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { silence, startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { startPostgres } from '../../support/postgres/postgres.ts'
import { holdHashQueue } from '../../support/service/held-hash-queue.ts'
import { CODE_OUTCOMES } from '../../../src/second-factor/code-outcome.ts'
import { codeAt, wrongCodeAt } from '../../support/second-factor/authenticator-app.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { type MeteredService, startMeteredProcess, startMeteredService } from '../../support/service/metrics.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually } from '../../support/wait.ts'
import net from 'node:net'

const readDocument = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
const REQUESTS = 'svc_http_request_duration_seconds_count'
const service = await startMeteredService()

const opens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })

const webhooksTo = (url: string) => ({ SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' })

/** Session refreshes by outcome. */
const refreshes = async (own: MeteredService) => {
  const { samples } = await own.scrape()
  const those = samples.filter(({ name }) => name === 'svc_session_refreshes_total')
  return Object.fromEntries(those.map(({ labels, value }) => [labels.outcome, value]))
}

/** An address outside, since those of this machine have limits of their own. */
const CLIENT = '198.51.100.1'

/** The bytes of a login, for a connection that can be closed before the response. */
const loginRequest = ({ email, password }: Person): string => {
  const csrf = 'x'.repeat(43)
  const body = urlEncoded({ email, password, csrf_token: csrf })
  return (
    `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nCookie: svc_csrf=${csrf}\r\n` +
    `X-Forwarded-For: ${CLIENT}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

describe('the listener of the metrics', { concurrency: 3 }, () => {
  testOnSqlite('answers GET and HEAD of /auth/metrics in the format of Prometheus, and nothing else', async () => {
    const get = await service.askMetrics('GET', '/auth/metrics')
    assert.equal(get.status, 200)
    assert.equal(get.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    const head = await service.askMetrics('HEAD', '/auth/metrics')
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.ok(Number(head.headers['content-length']) > 0)
    assert.equal((await service.askMetrics('GET', '/auth/metrics?x=1')).status, 200)
    for (const path of ['/', '/metrics', '/auth/metrics/', '/auth/login', '/auth/health', '//auth/metrics', '*'])
      assert.equal((await service.askMetrics('GET', path)).status, 404, path)
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const answer = await service.askMetrics(method, '/auth/metrics')
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD'], method)
    }
  })

  testOnSqlite('the public port does not serve the metrics', async (t) => {
    for (const each of [service, await startService({ t })])
      assert.equal((await createUserAgent(each).get('/auth/metrics')).status, 404)
  })

  testOnSqlite('a scrape leaves no line in the log', async (t) => {
    const quiet = await startMeteredService({ t, env: { SVC_LOG_LEVEL: 'info' } })
    await quiet.scrape()
    await quiet.askMetrics('POST', '/nowhere')
    await quiet.stop()
    assert.deepEqual(
      quiet.logLines().filter(({ message }) => message !== 'schema brought up to date'),
      [],
    )
  })

  testOnSqlite('it answers while the service drains, and is gone when the service has stopped', async (t) => {
    const draining = await startMeteredProcess({ t, env: { SVC_DRAIN: '30s' } })
    const held = await connectRaw(draining, t)
    draining.signal('SIGTERM')
    await loggedLine(draining, ({ message }) => message === 'stopping')
    assert.equal((await createUserAgent(draining).get('/auth/ready')).status, 503)
    assert.equal((await draining.scrape()).value(REQUESTS, { route: '/auth/ready', status: '503' }), 1)
    held.close()
    await draining.kill()
    const stopped = await startMeteredService({ t })
    await stopped.stop()
    assert.equal(await opens(stopped.metricsPort), false)
  })

  testOnSqlite('a taken port is an error that names SVC_METRICS_PORT, and no process stays', async (t) => {
    const env = { SVC_METRICS_PORT: String(service.metricsPort) }
    await assert.rejects(startServiceProcess({ t, env }), (error: Error) => {
      const message = `svc: Port ${service.metricsPort} on 127.0.0.1 is taken: set SVC_METRICS_PORT to another.`
      assert.ok(error.message.includes(`\n${message}\n`), error.message)
      assert.match(error.message, /exit 1/)
      return true
    })
  })

  testOnSqlite('a port of 0, an invalid port, and the port of the service are configuration errors', async (t) => {
    for (const port of ['0', '65536', 'on', '8080']) {
      const { code, stderr } = await runCommand({
        args: ['serve'],
        cwd: temporaryDirectory(t),
        env: { SVC_METRICS_PORT: port, SVC_PORT: '8080' },
      })
      assert.equal(code, 78, stderr)
      assert.match(stderr, /^svc: SVC_METRICS_PORT[^\n]*\n$/)
    }
  })
})

describe('the metrics', { concurrency: 3 }, () => {
  test('every metric has a type and a help text, and a name by the rules of Prometheus', async () => {
    const { samples, types, helps } = await service.scrape()
    const names = [...types.keys()]
    assert.ok(names.filter((name) => name.startsWith('svc_')).length > 15, names.join(' '))
    for (const name of names) {
      assert.match(name, /^(?:svc|process|nodejs)_/)
      assert.ok((helps.get(name) ?? '').length > 10, name)
      assert.equal(types.get(name) === 'counter', name.endsWith('_total'), name)
      if (types.get(name) === 'histogram') assert.match(name, /_seconds$/)
    }
    for (const { name } of samples) {
      const base = name.replace(/_(?:bucket|sum|count)$/, '')
      assert.ok(types.has(name) || types.get(base) === 'histogram', name)
    }
  })

  test('docs/logs-and-metrics.md lists every metric with its labels, and no others', async (t) => {
    const own = await startMeteredService({ t, env: { ...CLIENT_SETTINGS, SVC_CLEANUP_INTERVAL: '50ms' } })
    const connection = await connectRaw(own, t)
    connection.write('nonsense\r\n\r\n')
    await connection.answer()
    await eventually('a chore is done', async () => (await own.scrape()).text.includes('chore='))
    const { types, samples } = await own.scrape()
    const listed = new Map<string, string[]>()
    for (const [, names = '', labels = ''] of readDocument('logs-and-metrics.md').matchAll(
      /^\| ((?:`svc_\w+`(?:, )?)+) \|([^|]*)\|/gm,
    ))
      for (const [name] of names.matchAll(/\w+/g)) listed.set(name, labels.match(/\w+/g) ?? [])
    assert.deepEqual(
      [...listed.keys()].toSorted(),
      [...types.keys()].filter((name) => name.startsWith('svc_')).toSorted(),
    )
    for (const { name, labels } of samples.filter((sample) => sample.name.startsWith('svc_'))) {
      const { le: _, ...own } = labels
      const base = listed.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')
      assert.deepEqual(Object.keys(own).toSorted(), listed.get(base)?.toSorted(), name)
    }
  })

  test('the tries and windows of all limits are those of docs/limits.md', async (t) => {
    const env = { ...CLIENT_SETTINGS, ...(await adminSettings()) }
    const { samples } = await (await startMeteredService({ t, env })).scrape()
    const documented = [...readDocument('limits.md').matchAll(/^\| `([a-z_]+)` \| (\d+) \| (\d+) min \|/gm)]
    assert.ok(documented.length > 10)
    const valuesOf = (metric: string) =>
      samples.filter(({ name }) => name === metric).map(({ labels, value }) => [labels.limit, value])
    assert.deepEqual(
      valuesOf('svc_rate_limit_tries'),
      documented.map(([, limit, tries]) => [limit, Number(tries)]),
    )
    assert.deepEqual(
      valuesOf('svc_rate_limit_window_seconds'),
      documented.map(([, limit, , minutes]) => [limit, Number(minutes) * 60]),
    )
  })

  test('include the version, the process, its memory and its event loop', async () => {
    const metrics = await service.scrape()
    const version = await service.cli(['--version'])
    assert.equal(metrics.value('svc_build_info', { version: version.stdout.trim() }), 1)
    assert.equal(metrics.value('svc_processes'), 1)
    assert.ok((metrics.value('nodejs_heap_size_used_bytes') ?? 0) > 1_000_000)
    assert.ok(metrics.types.has('nodejs_eventloop_lag_p99_seconds'))
    assert.ok((metrics.value('process_cpu_seconds_total') ?? 0) > 0)
  })

  test('requests by method, route and status, with a histogram of their durations that adds up', async (t) => {
    const own = await startMeteredService({ t })
    const { agent } = await signedUp(own)
    for (let count = 0; count < 5; count++) await assertSignedIn(agent)
    await createUserAgent(own).get('/auth/api/v1/user')
    await agent.send({ method: 'HEAD', path: '/auth/health' })
    const metrics = await own.scrape()
    const user = { method: 'GET', route: '/auth/api/v1/user' }
    assert.equal(metrics.value(REQUESTS, { ...user, status: '200' }), 5)
    assert.equal(metrics.value(REQUESTS, { ...user, status: '401' }), 1)
    assert.equal(metrics.value(REQUESTS, { method: 'HEAD', route: '/auth/health', status: '200' }), 1)
    assert.equal(metrics.value(REQUESTS, { method: 'POST', route: '/auth/signup', status: '303' }), 1)

    const bucket = 'svc_http_request_duration_seconds_bucket'
    const buckets = metrics.samples.filter(
      ({ name, labels }) => name === bucket && labels.route === user.route && labels.status === '200',
    )
    const counts = buckets.map(({ value }) => value)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    )
    assert.deepEqual([buckets.at(-1)?.labels.le, counts.at(-1)], ['+Inf', 5])
    const seconds = metrics.value('svc_http_request_duration_seconds_sum', { ...user, status: '200' }) ?? 0
    assert.ok(seconds > 0 && seconds < 5, `${seconds} s for five requests`)
  })

  test('no path, method or header makes a new series: the labels are those of the table of routes', async (t) => {
    const own = await startMeteredService({ t })
    const agent = createUserAgent(own)
    const odd = [
      '/index.html',
      '//auth/login',
      '/auth/login/',
      '/auth/%6Cogin',
      '/auth/../x',
      '/AUTH/LOGIN',
      '/auth/metrics',
    ]
    const made = Array.from({ length: 40 }, () => `/auth/${randomUUID()}?q=${randomUUID()}`)
    const quoted = ['/auth/"}x{y="', '/auth/a\\b', `/auth/${'x'.repeat(3000)}`, '/auth/account/é', '/auth/api/v1/%00']
    for (const path of [...odd, ...made, ...quoted]) await agent.send({ method: 'GET', path: encodeURI(path) })
    const methods = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'MKCOL', 'LOCK', 'TRACE', 'REPORT', 'SEARCH']
    for (const method of methods) await agent.send({ method, path: '/auth/login' })
    await agent.send({
      method: 'GET',
      path: '/auth/login?return_to=//evil.example',
      headers: { 'x-forwarded-for': 'x' },
    })
    await agent.get('/auth/login', { host: 'other.example', 'user-agent': '"} evil{' })
    for (const start of ['BREW /x HTTP/1.1', 'GET /auth/login HTTP/9', randomBytes(9).toString('hex')]) {
      const connection = await connectRaw(own, t)
      connection.write(`${start}\r\nHost: x\r\n\r\n`)
      await connection.answer()
    }
    const metrics = await own.scrape()
    const requests = metrics.samples.filter(({ name }) => name === REQUESTS)
    const seen = (label: string) => [...new Set(requests.map(({ labels }) => labels[label] ?? ''))]
    assert.deepEqual(new Set(seen('route')), new Set(['/auth/login', 'other']))
    assert.deepEqual(new Set(seen('method')), new Set(['GET', 'other']))
    assert.ok(seen('status').every((each) => /^[2-5]\d\d$/.test(each)))
    const unknown = [...odd, ...made, ...quoted].length
    assert.equal(metrics.value(REQUESTS, { method: 'GET', route: 'other' }), unknown)
    const refused = metrics.value('svc_http_unreadable_requests_total') ?? 0
    assert.equal((metrics.value(REQUESTS, { method: 'other' }) ?? 0) + refused, methods.length + 3)
    assert.equal(metrics.value('svc_http_unreadable_requests_total', { status: '400' }), 2)
    assert.equal(metrics.value('svc_http_unreadable_requests_total', { status: '404' }), 1)
  })

  test('contain nothing about a user', async (t) => {
    const own = await startMeteredService({ t })
    const { agent, person } = await signedUp(own)
    const { id } = await currentUser(agent)
    await agent.refresh()
    await logIn(createUserAgent(own), { ...person, password: 'not the password' })
    await agent.post('/auth/login', person, { 'x-forwarded-for': '203.0.113.77', 'user-agent': 'Strange/7.7' })
    const { text } = await own.scrape()
    for (const secret of [person.email, person.username, id, '203.0.113', '127.0.0.1', 'Strange'])
      assert.ok(!text.includes(secret), secret)
  })

  test('logins by outcome', async (t) => {
    const own = {
      ...(await startMeteredService({ t, env: { SVC_RATE_LIMIT: 'on' } })),
      headers: { 'x-forwarded-for': CLIENT },
    }
    const { person } = await signedUp(own)
    const agent = createUserAgent(own)
    await logIn(agent, { ...person, password: '' })
    for (let count = 0; count < 3; count++) await logIn(createUserAgent(own), person)
    for (let count = 0; count < 10; count++) await logIn(createUserAgent(own), { ...person, password: 'wrong' })
    for (let count = 0; count < 2; count++) await logIn(createUserAgent(own), person)
    await createUserAgent(own).send({ method: 'POST', path: '/auth/login' })
    const metrics = await own.scrape()
    const counted = LOGIN_OUTCOMES.map((outcome) => [outcome, metrics.value('svc_logins_total', { outcome })])
    assert.deepEqual(Object.fromEntries(counted), {
      succeeded: 3,
      wrong_credentials: 10,
      rate_limited: 2,
      invalid: 1,
      busy: 0,
      given_up: 0,
      unavailable: 0,
      failed: 0,
    })
    assert.equal(metrics.value('svc_rate_limit_refusals_total', { limit: 'login' }), 2)
    assert.equal(metrics.value('svc_rate_limit_refusals_total'), 2)
  })

  test('passkeys by outcome', async (t) => {
    const own = await startMeteredService({ t })
    const { agent, person } = await signedUp(own)
    const authenticator = createAuthenticator({ origin: own.url })
    await addPasskey(agent, authenticator)
    assert.equal((await logInWithPasskey(createUserAgent(own), authenticator)).status, 200)
    assert.equal((await logInWithPasskey(agent, authenticator, {}, '?confirm=1')).status, 200)
    const other = { origin: 'https://other.example' }
    assert.equal((await logInWithPasskey(createUserAgent(own), authenticator, other)).status, 401)
    assert.equal((await own.cli(['users', 'disable', person.email])).code, 0)
    assert.equal((await logInWithPasskey(createUserAgent(own), authenticator)).status, 403)
    const metrics = await own.scrape()
    const counted = PASSKEY_OUTCOMES.map((outcome) => [
      outcome,
      metrics.value('svc_passkey_sign_ins_total', { outcome }),
    ])
    assert.deepEqual(Object.fromEntries(counted), {
      succeeded: 2,
      refused: 1,
      disabled: 1,
      rate_limited: 0,
      unavailable: 0,
      failed: 0,
    })
  })

  /** Nothing answers there. */
  const UNREACHABLE = 'https://127.0.0.1:1/client.json'

  test('grants, tokens and errors of clients, while there are any', async (t) => {
    const off = await service.scrape()
    assert.deepEqual(
      [...off.types.keys()].filter((name) => name.startsWith('svc_client')),
      [],
    )
    const OF_CLIENTS = /^(?:client|grant|code)\.|^(?:client|authorization|consent)_/
    const namedAfterClients = (samples: typeof off.samples) =>
      samples.filter(({ labels }) => OF_CLIENTS.test(`${labels.limit ?? ''}${labels.type ?? ''}`))
    assert.deepEqual(namedAfterClients(off.samples), [])
    const own = await startMeteredService({
      t,
      env: {
        ...CLIENT_SETTINGS,
        SVC_CLIENT_REGISTRATION: 'on',
        SVC_CLIENT_HOSTS: '127.0.0.1',
        SVC_LOG_LEVEL: 'info',
      },
    })
    const values = async (name: string, label: string) => {
      const those = (await own.scrape()).samples.filter((sample) => sample.name === name && sample.value > 0)
      return Object.fromEntries(those.map(({ labels, value }) => [labels[label], value]))
    }
    assert.equal(namedAfterClients((await own.scrape()).samples).length, 3 * 6 + 8, 'six limits, and eight types')
    const begun = (await own.scrape()).samples.filter(({ name }) => name === 'svc_client_errors_total')
    assert.deepEqual(
      begun.map(({ labels, value }) => [labels.error, value]),
      CLIENT_ERRORS.map((error) => [error, 0]),
    )
    const client = await madeClient(own)
    const { agent, person, tokens } = await newlyGranted(own, client)
    tokensIn(await refreshOfClient(own, client, tokens.refresh))

    const redirectUri = 'http://127.0.0.1/callback'
    const registered = await fetch(`${own.url}/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    })
    const { client_id: id = '' } = (await registered.json()) as { client_id?: string }
    const sent = await agent.get(authorizePath(id, { redirect_uri: redirectUri }))
    const returnTo = new URL(sent.location ?? '', own.url).searchParams.get('return_to') ?? ''
    const confirmed = await agent.post('/auth/account/confirm', { password: person.password, return_to: returnTo })
    const answer = await allow(agent, await agent.get(confirmed.location ?? ''))
    const code = answerToClient(answer, redirectUri).get('code') ?? ''
    tokensIn(await trade(own, { id }, code, { redirect_uri: redirectUri }))
    assert.deepEqual(await values('svc_client_grants_total', 'kind'), { operator: 1, registered: 1 })
    assert.deepEqual(await values('svc_client_tokens_total', 'grant_type'), {
      authorization_code: 2,
      refresh_token: 1,
    })

    await refreshOfClient(own, client, 'svc_rt_made-up')
    await refreshOfClient(own, { ...client, secret: 'wrong' }, tokens.refresh)
    await userInfo(own, 'made-up')
    await createUserAgent(own).get(authorizePath(client.id, { prompt: 'none' }))
    await createUserAgent(own).get(authorizePath(`${client.id}x`))
    assert.equal((await agent.get(authorizePath(UNREACHABLE))).status, 400)
    await agent.post(
      '/auth/oauth2/consent',
      consentForm(await agent.get(authorizePath(client.id, { prompt: 'consent' }))),
    )
    assert.deepEqual(await values('svc_client_errors_total', 'error'), {
      invalid_grant: 1,
      invalid_client: 1,
      invalid_token: 1,
      login_required: 1,
      client_unknown: 1,
      client_document: 1,
      access_denied: 1,
    })
    const ofUser = own.logLines().filter(({ event }) => event === 'client_allow')
    assert.deepEqual(
      ofUser.map(({ outcome, client_id }) => [outcome, client_id]),
      [
        ['succeeded', client.id],
        ['succeeded', id],
      ],
    )
  })

  test('codes by outcome, and logins that waited for one', async (t) => {
    const own = await startMeteredService({ t })
    const { agent, person } = await signedUp(own)
    const { secret } = await setUpApp(agent, Date.now())
    const visitor = createUserAgent(own)
    assert.match((await logIn(visitor, person)).location ?? '', /^\/auth\/login\/code/)
    const waiting = await own.scrape()
    assert.equal(waiting.value('svc_second_factors_asked_total', { factor: 'code' }), 1)
    assert.equal(waiting.value('svc_logins_total', { outcome: 'succeeded' }), 0)
    assert.equal((await visitor.post('/auth/login/code', { code: wrongCodeAt(secret, Date.now()) })).status, 401)
    assert.equal((await visitor.post('/auth/login/code', { code: codeAt(secret, Date.now() + 30_000) })).status, 303)
    const metrics = await own.scrape()
    const counted = CODE_OUTCOMES.map((outcome) => [
      outcome,
      metrics.value('svc_second_factor_codes_total', { outcome }),
    ])
    const none = { recovery_code: 0, limited: 0, failed: 0 }
    assert.deepEqual(Object.fromEntries(counted), { one_time_code: 1, wrong: 1, ...none })
    assert.equal(metrics.value('svc_logins_total', { outcome: 'succeeded' }), 1)
    assert.equal(metrics.value('svc_logins_total', { outcome: 'wrong_credentials' }), 1)
  })

  test('signups by outcome', async (t) => {
    const own = await startMeteredService({ t })
    const { person } = await signedUp(own)
    const tryAs = (form: Partial<typeof person>) => signUp(createUserAgent(own), { ...newPerson(), ...form })
    assert.equal((await tryAs({ email: person.email })).status, 409)
    assert.equal((await tryAs({ username: person.username })).status, 409)
    assert.equal((await tryAs({ password: 'short' })).status, 422)
    assert.equal((await tryAs({})).status, 303)
    const signups = async () => {
      const { samples } = await own.scrape()
      const those = samples.filter(({ name, value }) => name === 'svc_signups_total' && value > 0)
      return Object.fromEntries(those.map(({ labels, value }) => [labels.outcome, value]))
    }
    assert.deepEqual(await signups(), { succeeded: 2, email_taken: 1, username_taken: 1, invalid: 1 })
    await own.restart({ env: { SVC_SIGNUP: 'off' } })
    assert.equal((await tryAs({})).status, 403)
    assert.deepEqual(await signups(), { closed: 1 })
  })

  test('refreshes by outcome: rotated, grace, replaced, reused, unknown', async (t) => {
    const clock = turnedClock()
    const own = await startMeteredService({ t, clock })
    const { agent, person } = await signedUp(own)
    const tab = agent.copy()
    for (const each of [agent, tab]) assert.equal((await each.refresh()).status, 200)
    agent.cookies.set('svc_refresh', 'nobody.knows.this', '/auth')
    assert.equal((await agent.refresh()).status, 401)
    // A page refreshes the session of a request with only a refresh token.
    tab.cookies.delete('svc_access')
    assert.equal((await tab.get('/auth/account')).status, 200)
    const late = tab.copy()
    assert.equal((await logIn(tab, person)).status, 303)
    assert.equal((await late.refresh()).status, 401)
    assert.deepEqual(await refreshes(own), { rotated: 2, grace: 1, replaced: 1, reused: 0, unknown: 1 })

    await own.restart()
    const thief = tab.copy()
    await tab.refresh()
    await clock.turnTo(60_000)
    assert.equal((await thief.refresh()).status, 401)
    assert.deepEqual(await refreshes(own), { rotated: 1, grace: 0, replaced: 0, reused: 1, unknown: 0 })
  })

  test('the queue of password hashes: running, waiting, refused, and how long a hash takes', async (t) => {
    const env = { SVC_HASHES_AT_ONCE: '1', SVC_HASH_QUEUE: '20' }
    const own = await startMeteredService({ t, env, fullHashes: true })
    const { person } = await signedUp(own)
    const before = (await own.scrape()).value('svc_password_hash_duration_seconds_count') ?? 0
    const storming = { isOver: false }
    const storm = Array.from({ length: 40 }, () => logIn(newAgent(own), person))
    const over = Promise.all(storm).finally(() => (storming.isOver = true))
    const busiest = { running: 0, waiting: 0 }
    while (!storming.isOver) {
      const metrics = await own.scrape()
      busiest.running = Math.max(busiest.running, metrics.value('svc_password_hashes_running') ?? 0)
      busiest.waiting = Math.max(busiest.waiting, metrics.value('svc_password_hashes_waiting') ?? 0)
    }
    assert.equal(busiest.running, 1)
    assert.ok(busiest.waiting > 0 && busiest.waiting <= 20, `${busiest.waiting} wait`)
    const refused = (await over).filter((answer) => answer.status === 503).length
    const after = await own.scrape()
    assert.ok(refused > 0)
    assert.equal(after.value('svc_password_hashes_refused_total'), refused)
    assert.equal(after.value('svc_logins_total', { outcome: 'busy' }), refused)
    assert.equal(after.value('svc_password_hash_duration_seconds_count'), before + storm.length - refused)
    assert.ok((after.value('svc_password_hash_duration_seconds_sum') ?? 0) > 0)
    assert.deepEqual([after.value('svc_password_hashes_running'), after.value('svc_password_hashes_waiting')], [0, 0])
  })

  test('a login whose sender leaves while it waits is cancelled', async (t) => {
    const own = await startMeteredService({ t, env: { SVC_HASHES_AT_ONCE: '1' } })
    const { person } = await signedUp(own)
    const queue = await holdHashQueue(own, t)
    const others = Array.from({ length: 5 }, () => logIn(newAgent(own), person))
    const leaving = await connectRaw(own, t)
    leaving.write(loginRequest(person))
    await queue.isFollowedBy(6)
    leaving.close()
    await Promise.all([...others, queue.released()])
    const metrics = await own.scrape()
    assert.equal(metrics.value('svc_logins_total', { outcome: 'given_up' }), 1)
    assert.equal(metrics.value('svc_logins_total', { outcome: 'succeeded' }), others.length)
  })

  test('logins whose sender leaves while they wait do not count, neither here nor for a limit', async (t) => {
    const own = await startMeteredService({ t, env: { SVC_HASHES_AT_ONCE: '1', SVC_RATE_LIMIT: 'on' } })
    const { person } = await signedUp(own)
    const client = { url: own.url, headers: { 'x-forwarded-for': CLIENT } }
    const guess = () => logIn(newAgent(client), { ...person, password: 'wrong password' })
    const queue = await holdHashQueue(own, t)
    const leaving = await Promise.all(Array.from({ length: 10 }, () => connectRaw(own, t)))
    for (const sender of leaving) sender.write(loginRequest({ ...person, password: 'wrong password' }))
    await queue.isFollowedBy(10)
    for (const sender of leaving) sender.close()
    await queue.released()
    assert.equal((await own.scrape()).value('svc_logins_total', { outcome: 'given_up' }), 10)
    for (let tries = 0; tries < 10; tries++) assert.equal((await guess()).status, 401)
    assert.equal((await guess()).status, 429)
  })

  test('deliveries by outcome, open events, and for how long the oldest has been due', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const own = await startMeteredService({ t, env: { ...webhooksTo(receiver.url), SVC_WEBHOOK_TIMEOUT: '1m' } })
    await signedUp(own)
    await eventually('delivered', async () => {
      const metrics = await own.scrape()
      return metrics.value('svc_webhook_deliveries_total', { outcome: 'delivered' }) === 1
    })
    receiver.answerWith(status(404))
    await signedUp(own)
    await eventually('failed', async () => {
      const metrics = await own.scrape()
      return metrics.value('svc_webhook_deliveries_total', { outcome: 'failed' }) === 1
    })
    const idle = await own.scrape()
    assert.deepEqual([idle.value('svc_webhook_events_open'), idle.value('svc_webhook_oldest_due_seconds')], [0, 0])
    receiver.answerWith(silence)
    const { agent, person } = await signedUp(own)
    await receiver.received(3)
    // The next event of the same user waits for its turn.
    await agent.post('/auth/account/delete', { password: person.password })
    await eventually('one under way and one that is due', async () => {
      const metrics = await own.scrape()
      const dueSeconds = metrics.value('svc_webhook_oldest_due_seconds') ?? 0
      return metrics.value('svc_webhook_events_open') === 2 && dueSeconds > 0 && dueSeconds < 60
    })
    await own.restart({ env: { ...webhooksTo(receiver.url), SVC_WEBHOOK_MAX_ATTEMPTS: '3' } })
    receiver.answerWith(status(500))
    await signedUp(own)
    await eventually('retried', async () => {
      const metrics = await own.scrape()
      return (metrics.value('svc_webhook_deliveries_total', { outcome: 'retried' }) ?? 0) > 0
    })
  })

  test('without webhooks, no event is reported as due', async () => {
    const metrics = await service.scrape()
    assert.equal(metrics.value('svc_webhook_events_open'), undefined)
    assert.equal(metrics.value('svc_webhook_oldest_due_seconds'), undefined)
  })

  test('deleted rows by cleanup job', async (t) => {
    const clock = turnedClock()
    const own = await startMeteredService({ t, clock, env: { SVC_CLEANUP_INTERVAL: '100ms', SVC_SESSION_TTL: '1h' } })
    await signedUp(own)
    await clock.turnTo(2 * 3_600_000)
    await eventually('the session is deleted', async () => {
      const metrics = await own.scrape()
      return metrics.value('svc_housekeeping_deleted_rows_total', { chore: 'sessions' }) === 1
    })
    await eventually('no signing key is', async () => {
      const metrics = await own.scrape()
      return metrics.value('svc_housekeeping_deleted_rows_total', { chore: 'signing keys' }) === 0
    })
  })
})

describe('the database', { concurrency: 2 }, () => {
  test('is up', async () => {
    assert.equal((await service.scrape()).value('svc_database_up'), 1)
  })

  testOnSqlite(
    'that is unavailable or frozen does not block the metrics: its gauge is 0, and its own metrics are missing',
    async (t) => {
      const postgres = await startPostgres({ t })
      const receiver = await startWebhookReceiver({ t })
      const env = {
        ...webhooksTo(receiver.url),
        SVC_DATABASE_URL: await postgres.createDatabase(),
        SVC_SECRET: randomBytes(32).toString('hex'),
        // Longer than any client would wait: the metrics have their own deadline.
        SVC_DATABASE_TIMEOUT: '10m',
      }
      const own = await startMeteredService({ t, env })
      const { agent } = await signedUp(own)
      const before = await own.scrape()
      assert.equal(before.value('svc_database_up'), 1)
      assert.ok((before.value('svc_database_connections') ?? 0) >= 1)
      assert.notEqual(before.value('svc_database_operations_waiting'), undefined)
      assert.notEqual(before.value('svc_webhook_events_open'), undefined)

      const assertDown = async () => {
        const metrics = await own.scrape()
        assert.equal(metrics.value('svc_database_up'), 0)
        assert.equal(metrics.value('svc_webhook_events_open'), undefined)
        assert.equal(metrics.value('svc_webhook_oldest_due_seconds'), undefined)
        assert.ok((metrics.value(REQUESTS) ?? 0) > 0)
      }
      const isUp = async () => (await own.scrape()).value('svc_database_up') === 1
      await postgres.freeze()
      await assertDown()
      postgres.thaw()
      await eventually('it is up again', isUp)
      await postgres.stop('immediate')
      await assertDown()
      assertErrorPage(await logIn(createUserAgent(own), newPerson()), 503)
      assert.equal((await own.scrape()).value('svc_logins_total', { outcome: 'unavailable' }), 1)
      await postgres.start()
      await eventually('it is up again', isUp)
      await assertSignedIn(agent)
    },
  )
})
