// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import {
  readOfferedSetUp,
  readRecoveryCodes,
  SECOND_FACTOR_PAGE as PAGE,
  setUpApp,
} from '../../support/second-factor/app-set-up.ts'
import { codeAt, wrongCodeAt } from '../../support/second-factor/authenticator-app.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock, env: { SVC_APP_NAME: 'Notes' } })

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const offer = async () => {
  const { agent, person } = await signedUp(service)
  return { agent, person, ...readOfferedSetUp(await agent.get(PAGE)) }
}

const claimsOf = (agent: UserAgent) => {
  const [, payload = ''] = (agent.cookies.get('svc_access') ?? '').split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sid: string; auth_time: number; amr: string[] }
}

describe('setting up an app', () => {
  test('the page shows the secret as a QR code and as text, and nothing is stored before the first right code', async () => {
    const { agent, person } = await signedUp(service)
    const shown = await agent.get(PAGE)
    assert.equal(shown.status, 200)
    const { secret } = readOfferedSetUp(shown)
    assert.match(shown.text, /<svg class="qr" viewBox="0 0 \d+ \d+" role="img"/)
    const uri = /href="(otpauth:[^"]+)"/.exec(shown.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    assert.equal(new URL(uri).searchParams.get('secret'), secret)
    assert.equal(new URL(uri).searchParams.get('issuer'), 'Notes')
    assert.equal(decodeURIComponent(new URL(uri).pathname), `/Notes:${person.email}`)
    assert.match((await agent.get('/auth/account')).text, /<b>Authenticator app<\/b> <span class="badge plain">Off</)
  })

  test('a wrong code shows the same secret again', async () => {
    const { agent, secret, sealed } = await offer()
    const refused = await agent.post(PAGE, { set_up: sealed, code: wrongCodeAt(secret, clock.now()) })
    assert.equal(refused.status, 401)
    assert.deepEqual(readOfferedSetUp(refused), { secret, sealed })
    assert.match(refused.text, /id="code-problem"/)
    const set = await agent.post(PAGE, { set_up: sealed, code: codeAt(secret, clock.now()) })
    assert.equal(set.location, PAGE)
  })

  test('the right code sets it up, with recovery codes that are shown once and can be saved', async () => {
    const { agent, person, secret, sealed } = await offer()
    const other = await loggedIn(service, person)
    const typed = codeAt(secret, clock.now()).replace(/(?<=^...)/, ' ')
    const set = await agent.post(PAGE, { set_up: sealed, code: typed })
    assert.equal(set.location, PAGE)
    assert.equal(set.cookie('svc_codes')?.attributes.path, '/auth/account')
    assert.equal((await agent.send({ method: 'HEAD', path: PAGE })).cookie('svc_codes'), undefined)
    const shown = await agent.get(PAGE)
    const codes = readRecoveryCodes(shown)
    assert.equal(codes.length, 10)
    assert.deepEqual(shown.cleared, ['svc_codes'])
    assert.match(shown.text, /class="box done"[^>]*>Authenticator app set up\. Your other devices were logged out\./)
    assert.deepEqual(readRecoveryCodes(await agent.get(PAGE)), [])

    const download = /name="download" value="([\w-]+)"/.exec(shown.text)?.[1] ?? ''
    const file = await agent.post(PAGE, { download })
    assert.equal(file.headers['content-disposition'], 'attachment; filename="recovery-codes.txt"')
    assert.equal(file.headers['content-type'], 'text/plain; charset=utf-8')
    for (const code of codes) assert.ok(file.text.includes(`\n${code}\n`))
    assert.ok(file.text.includes(person.email))

    const account = await agent.get('/auth/account')
    assert.match(account.text, /<b>Authenticator app<\/b> <span class="badge">On</)
    assert.match(account.text, /10 of 10 left/)
    assert.equal((await other.get('/auth/api/v1/user')).status, 401)
  })

  test('the database holds the secret encrypted, and each recovery code as a hash of its own by Argon2id', async (t) => {
    const { agent } = await signedUp(service)
    const { secret, recoveryCodes } = await setUpApp(agent, clock.now())
    const database = await openDatabase(service, t)
    const contents = await database.contents()
    const decoded = Buffer.from([...secret].map((digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0')).join(''))
    const bytes = Buffer.from((decoded.toString().match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
    assert.equal(bytes.length, 20)
    const secrets = [secret, bytes, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]
    const codes = recoveryCodes.flatMap((code) => [code, code.replaceAll('-', ''), code.replaceAll('-', '').slice(1)])
    for (const each of [...secrets, ...codes]) assert.ok(!contents.includes(each), String(each))
    const { id: userId } = await currentUser(agent)
    const rows = await database.rows('SELECT hash FROM recovery_codes WHERE user_id = ?', userId)
    const salts = rows.map(({ hash }) => /^\$argon2id\$v=19\$[^$]+\$([^$]+)\$/.exec(String(hash))?.[1])
    assert.equal(new Set(salts).size, 10)
    assert.ok(!salts.includes(undefined))
  })

  test('the session is a new one afterwards, which says what was proved, and when', async () => {
    const { agent, secret, sealed } = await offer()
    const stolen = agent.copy()
    const before = claimsOf(agent)
    await clock.turnTo(clock.aheadMs() + 60_000)
    await agent.post(PAGE, { set_up: sealed, code: codeAt(secret, clock.now()) })
    const { sid, auth_time, amr } = claimsOf(agent)
    assert.notEqual(sid, before.sid)
    assert.deepEqual({ auth_time, amr }, { auth_time: before.auth_time, amr: ['pwd', 'otp', 'mfa'] })
    assert.equal((await stolen.get('/auth/api/v1/user')).status, 401)
  })

  test('a set-up is of one session and ten minutes, and each is good once', async () => {
    const { agent, secret, sealed, person } = await offer()
    const code = () => codeAt(secret, clock.now())
    const stranger = (await signedUp(service)).agent
    for (const one of [stranger, await loggedIn(service, person)]) {
      const refused = await one.post(PAGE, { set_up: sealed, code: code() })
      assert.equal(refused.status, 410)
      assert.notEqual(readOfferedSetUp(refused).secret, secret)
    }
    const both = await Promise.all([1, 2].map(() => agent.post(PAGE, { set_up: sealed, code: code() })))
    // The other comes from a session that has ended, or is about to: what it is told depends on the moment.
    assert.equal(both.filter(({ location }) => location === PAGE).length, 1)
    for (const [form, status] of [
      [{ code: ' ', set_up: sealed }, 410],
      [{ code: '123456' }, 410],
      [{ code: '123456', set_up: 'x'.repeat(300) }, 410],
      [{ code: ['1', '2'] }, 400],
      [{}, 400],
      [{ download: 'x' }, 410],
    ] as const) {
      const answer = await agent.post(PAGE, form as Record<string, string>)
      assert.equal(answer.status, status, JSON.stringify(form))
    }
  })

  test('codes to show are of one user, and of ten minutes', async () => {
    const { agent, secret, sealed } = await offer()
    await agent.post(PAGE, { set_up: sealed, code: codeAt(secret, clock.now()) })
    const cookie = agent.cookies.get('svc_codes') ?? ''
    const stranger = (await signedUp(service)).agent
    stranger.cookies.set('svc_codes', cookie)
    assert.deepEqual(readRecoveryCodes(await stranger.get(PAGE)), [])
    assert.equal((await stranger.post(PAGE, { download: cookie })).status, 410)
  })

  test('another app replaces the first once its code is right, and the recovery codes stay', async () => {
    const { agent } = await signedUp(service)
    await setUpApp(agent, clock.now())
    const shown = await agent.get(`${PAGE}?replace=1`)
    const { secret, sealed } = readOfferedSetUp(shown)
    const set = await agent.post(PAGE, { set_up: sealed, code: codeAt(secret, clock.now()) })
    assert.equal(set.location, '/auth/account?done=second_factor_set_up#two-step')
    assert.match((await agent.get(set.location)).text, /Authenticator app set up\./)
    assert.match((await agent.get('/auth/account')).text, /10 of 10 left/)
    const again = await agent.post(PAGE, { set_up: sealed, code: codeAt(secret, clock.now()) })
    assert.equal(again.status, 410)
  })

  test('after the set-up the user goes on to return_to, a path of this site', async () => {
    const { agent } = await signedUp(service)
    const { secret, sealed } = readOfferedSetUp(await agent.get(`${PAGE}?return_to=${encodeURIComponent('/a?b=c')}`))
    const code = codeAt(secret, clock.now())
    const foreign = await agent.post(PAGE, { set_up: sealed, code, return_to: '//evil.example' })
    assert.equal(foreign.status, 400)
    const set = await agent.post(PAGE, { set_up: sealed, code, return_to: '/a?b=c' })
    assert.equal(set.location, `${PAGE}?return_to=%2Fa%3Fb%3Dc`)
    assert.match((await agent.get(set.location)).text, /<a class="svc-button first" href="\/a\?b=c">/)
  })
})

describe('changing it', () => {
  test('new recovery codes replace the old ones', async () => {
    const { agent } = await signedUp(service)
    const { recoveryCodes } = await setUpApp(agent, clock.now())
    const renewed = await agent.post(PAGE, { recovery_codes: 'new' })
    const codes = readRecoveryCodes(await agent.get(renewed.location ?? ''))
    assert.equal(codes.length, 10)
    assert.equal(codes.filter((code) => recoveryCodes.includes(code)).length, 0)
  })

  test('removed, it is gone with its recovery codes and every other session', async () => {
    const { agent } = await signedUp(service)
    assert.equal((await agent.post(PAGE, { recovery_codes: 'new' })).status, 409)
    await setUpApp(agent, clock.now())
    const both = await Promise.all([1, 2].map(() => agent.post(PAGE, { remove: '1' })))
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [303, 404],
    )
    const account = await agent.get('/auth/account?done=second_factor_removed')
    assert.match(account.text, /Authenticator app removed\./)
    assert.match(account.text, /<b>Authenticator app<\/b> <span class="badge plain">Off</)
    assert.doesNotMatch(account.text, /of 10 left/)
  })

  test('page and forms ask for a recent sign-in, and for a session', async () => {
    const { agent, secret, sealed } = await offer()
    const code = codeAt(secret, clock.now())
    await clock.turnTo(clock.aheadMs() + 601_000)
    assert.match((await agent.get(PAGE)).location ?? '', /^\/auth\/account\/confirm/)
    for (const form of [{ set_up: sealed, code }, { remove: '1' }, { recovery_codes: 'new' }])
      assert.match((await agent.post(PAGE, form)).location ?? '', /^\/auth\/account\/confirm/)
    assert.match((await newAgent(service).get(PAGE)).location ?? '', /^\/auth\/login/)
  })
})
