// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { signedUp } from '../../support/client/accounts.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  consentForm,
  madeClient,
} from '../../support/clients/authorization.ts'
import {
  assertOAuthError,
  granted,
  newlyGranted,
  refresh,
  tokensIn,
  trade,
  userInfo,
} from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NOTES = 'https://notes.example.com/mcp'
const FILES = 'https://files.example.com'

/** The lines that a start says before it ends with the code of a configuration error. */
const refusalOf = async (env: Environment): Promise<string[]> => {
  const { code, stdout, stderr } = await runCommand({
    args: ['serve'],
    cwd: temporaryDirectory(),
    env: { SVC_PORT: '0', ...env },
  })
  assert.equal(code, 78, stdout + stderr)
  assert.doesNotMatch(stderr, /\n\s+at /)
  return stderr.split('\n')
}

describe('a configuration error', () => {
  const REFUSED: Record<string, [values: string[], accepted: RegExp]> = {
    SVC_CLIENTS: [['yes', 'ON', '1', 'true'], /"on" or "off"/],
    SVC_CLIENT_REGISTRATION: [['yes', 'maybe', '1', 'open'], /"on" or "off"/],
    SVC_CLIENT_RESOURCES: [
      ['http://notes.example.com/mcp', '/mcp', 'https://a.example/#x', 'https://user@a.example/'],
      /https URLs without fragment/,
    ],
    SVC_CLIENT_SCOPES: [
      ['notes:read', 'openid=Who you are', 'a=One, a=Two', 'notes read=Read'],
      /NAME=TEXT.*none of openid.*\\, for a comma/,
    ],
    SVC_CLIENT_HOSTS: [['*.example.com', 'a.example:443', 'https://a.example', 'javascript:'], /without ports/],
    SVC_CLIENT_TOKEN_TTL: [['59s', '24h1s', '1d', '0'], /from 1m to 24h/],
    SVC_CLIENT_GRANT_TTL: [['0s', '90', '-1h', '1d'], /a duration/],
  }
  for (const at of [0, 1, 2, 3]) {
    const env = Object.fromEntries(Object.entries(REFUSED).map(([name, [values]]) => [name, values[at]]))
    test(`names the setting and what it accepts: ${Object.values(env).join(' ')}`, async () => {
      const lines = await refusalOf(env)
      for (const [name, [, accepted]] of Object.entries(REFUSED)) {
        const [line = '', ...more] = lines.filter((each) => each.includes(name))
        assert.deepEqual(more, [])
        assert.match(line, accepted)
      }
    })
  }

  test('is SVC_CLIENTS=on where codes would be sent unencrypted, and nothing on this machine', async (t) => {
    const [line = ''] = await refusalOf({ SVC_CLIENTS: 'on', SVC_BASE_URL: 'http://app.example.com' })
    assert.match(line, /SVC_CLIENTS=on needs a SVC_BASE_URL with https/)
    await startService({ t, env: { SVC_CLIENTS: 'on', SVC_BASE_URL: 'http://127.0.0.1:8080' } })
  })

  test('is a resource that a token of a cookie could be for, however it is spelt', async () => {
    for (const [audience, resource] of [
      [NOTES, NOTES],
      [`${FILES}/`, FILES],
      [FILES, `${FILES}/`],
      ['https://FILES.example.com:443', FILES],
    ] as const) {
      const env = { SVC_CLIENTS: 'on', SVC_BASE_URL: 'https://app.example.com', SVC_AUDIENCES: `app,${audience}` }
      const [line = ''] = await refusalOf({ ...env, SVC_CLIENT_RESOURCES: resource })
      assert.match(line, /SVC_AUDIENCES and SVC_CLIENT_RESOURCES both have/, audience)
    }
  })
})

const clock = turnedClock()
const service = await startService({
  clock,
  env: {
    ...CLIENT_SETTINGS,
    SVC_CLIENT_SCOPES: String.raw`notes:read=Read\, and search\, your notes, notes:all=Everything`,
    SVC_CLIENT_TOKEN_TTL: '5m',
    SVC_CLIENT_GRANT_TTL: '30h',
  },
})
const web = await madeClient(service)
const FREE = 'openid offline_access notes:read'

test('SVC_CLIENT_TOKEN_TTL is the life of access tokens, and SVC_CLIENT_GRANT_TTL that of a grant that nobody uses', async () => {
  const { agent } = await signedUp(service)
  const answer = await trade(service, web, await codeFor(agent, web.id, { scope: FREE }))
  assert.equal(answer.body.expires_in, 300)
  const tokens = tokensIn(answer)
  const { exp = 0, iat = 0 } = decodeJwt(tokens.access)
  assert.equal(exp - iat, 300)
  await clock.turnTo(6 * MINUTE_MS)
  assertOAuthError(await userInfo(service, tokens.access), 401, 'invalid_token')
  const { tokens: idle } = await newlyGranted(service, web, FREE)
  await clock.turnTo(29 * HOUR_MS)
  tokensIn(await refresh(service, web, tokens.refresh))
  await clock.turnTo(31 * HOUR_MS)
  assertOAuthError(await refresh(service, web, idle.refresh), 400, 'invalid_grant')
  tokensIn(await refresh(service, web, tokens.refresh))
  await clock.turnTo(0)
})

test('the page has the words of SVC_CLIENT_SCOPES, commas included, and the life of the grant', async () => {
  const { agent } = await signedUp(service)
  const { text } = await agent.get(authorizePath(web.id, { scope: FREE }))
  for (const words of ['<li>Read, and search, your notes</li>', 'until it hasn’t used it for 30 hours'])
    assert.ok(text.includes(words), words)
})

test('without a scope, the grant has none, and the page says so', async () => {
  const { agent } = await signedUp(service)
  for (const scope of [undefined, '', '   ']) {
    const page = await agent.get(authorizePath(web.id, { scope, prompt: 'consent' }))
    assert.ok(page.text.includes('It asks for nothing but to know that you have an account here.'))
    const code = answerToClient(await allow(agent, page)).get('code') ?? ''
    const tokens = tokensIn(await trade(service, web, code))
    assert.deepEqual([tokens.scope, decodeJwt(tokens.access).scope, tokens.id], ['', '', undefined])
  }
})

test('scopes stand between any number of spaces, and what svc does not know is left out', async () => {
  const { agent } = await signedUp(service)
  const scope = '  openid   notes:read  unknown openid '
  assert.equal((await granted(service, agent, web, scope)).scope, 'openid notes:read')
})

test('a token is for the resource as the setting spells it, and for the only one of its client where none is asked for', async () => {
  const { agent } = await signedUp(service)
  const audienceOf = async (client: typeof web, changes: Record<string, string> = {}) =>
    decodeJwt((await granted(service, agent, client, FREE, changes)).access).aud
  const issuer = `${service.url}/auth`
  assert.equal(await audienceOf(web), issuer)
  for (const resource of [FILES, `${FILES}/`, 'https://FILES.example.com:443'])
    assert.equal(await audienceOf(web, { resource }), FILES)
  const one = await madeClient(service, { name: 'One', options: ['--resource', `${FILES}/`] })
  assert.equal(await audienceOf(one), FILES)
  const told = answerToClient(await agent.get(authorizePath(one.id, { resource: NOTES })))
  assert.equal(told.get('error'), 'invalid_target')
  const both = await madeClient(service, { name: 'Both', options: ['--resource', FILES, '--resource', NOTES] })
  assert.equal(await audienceOf(both), issuer)
  consentForm(await agent.get(authorizePath(both.id, { resource: NOTES })))
})
