// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage } from '../../support/client/assertions.ts'
import { openRedirects, TREACHEROUS_PATHS } from '../../support/client/open-redirects.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  consentForm,
  madeClient,
  REDIRECT_URI,
} from '../../support/clients/authorization.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startService } from '../../support/service/service.ts'

const MINUTE_MS = 60_000
const clock = turnedClock()
const env = { ...CLIENT_SETTINGS, SVC_SECOND_FACTOR: 'off', SVC_PASSKEYS: 'off' }
const service = await startService({ clock, env })
const client = await madeClient(service)
const trusted = await madeClient(service, { name: 'Own app', options: ['--first-party'] })
const strict = await madeClient(service, { name: 'Strict app', options: ['--first-party', '--require-mfa'] })
const pass = (ms: number) => clock.turnTo(clock.aheadMs() + ms)

const goesTo = ({ location, headers }: Answer): string =>
  location ?? String(headers.refresh ?? '').replace(/^0;url=/, '')

test('where no second factor is accepted, a request for one is answered at once', async () => {
  const { agent } = await signedUp(service)
  for (const path of [
    authorizePath(trusted.id, { acr_values: 'mfa' }),
    authorizePath(trusted.id, { acr_values: 'mfa', prompt: 'none' }),
    authorizePath(strict.id),
  ]) {
    const answer = await agent.get(path)
    assert.equal(answer.status, 303)
    assert.equal(answerToClient(answer).get('error'), 'unmet_authentication_requirements')
  }
})

test('a session that has ended elsewhere gives no code, and prompt=none shows nothing', async () => {
  const { agent, person } = await signedUp(service)
  assert.ok(answerToClient(await agent.get(authorizePath(trusted.id))).get('code'))
  assert.equal((await service.cli(['sessions', 'revoke', person.email])).code, 0)
  const silent = await agent.copy().get(authorizePath(trusted.id, { prompt: 'none' }))
  assert.equal(answerToClient(silent).get('error'), 'login_required')
  assert.match((await agent.get(authorizePath(trusted.id))).location ?? '', /^\/auth\/login\?/)
})

test('the form of consent is good for ten minutes, and then asked again, until the request is an hour old', async () => {
  const { agent } = await signedUp(service)
  const page = await agent.get(authorizePath(client.id))
  await pass(11 * MINUTE_MS)
  const late = await allow(agent, page)
  consentForm(await agent.get(late.location ?? ''))
  await pass(50 * MINUTE_MS)
  const lost = await agent.get((await allow(agent, page)).location ?? '')
  assertErrorPage(lost, 400)
  assert.match(lost.text, /more than an hour ago/)
})

describe('nothing leads away', () => {
  test('no text of the corpus is a redirect URI, or an address after a logout', async () => {
    const { agent } = await signedUp(service)
    for (const text of [...openRedirects(service.port), ...TREACHEROUS_PATHS]) {
      const logout = new URLSearchParams({ client_id: trusted.id, post_logout_redirect_uri: text, state: 's' })
      const answers = [
        await agent.get(authorizePath(trusted.id, { redirect_uri: text })),
        await agent.get(`/auth/oauth2/logout?${logout.toString()}`),
      ]
      assert.equal(answers[0]?.status, 400, text)
      for (const answer of answers) {
        assert.ok(answer.status < 500, text)
        assert.equal(goesTo(answer), '', text)
      }
    }
  })

  test('each comes back in state as it is, and leads nowhere', async () => {
    for (const state of openRedirects(service.port)) {
      const told = answerToClient(await newAgent(service).get(authorizePath(trusted.id, { state, prompt: 'none' })))
      assert.equal(told.get('state'), state)
    }
  })

  const VALUES = (
    '%00 none%00 %ff % %u0041 %C0%80 %ED%A0%80 %EF%BB%BF %F0%9F%98%80 [] %5B%22x%22%5D -1 1e9 0 99999999999999999999 + ' +
    '%20%20 __proto__ constructor %0d%0aX:%20y %22%3E%3Cscript%3E none%20none login%20select_account https://evil.example/x'
  ).split(' ')
  const NAMES = (
    'client_id redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method resource ' +
    'prompt max_age acr_values login_hint id_token_hint ui_locales request request_uri __proto__ unknown'
  ).split(' ')
  const OWN = /^\/auth\/(?:login|account\/confirm|oauth2\/authorize)\?/

  test('any value of any parameter, alone or beside a good one, by GET and by POST, is no 500 and no way out', async () => {
    const { agent } = await signedUp(service)
    for (const name of NAMES) {
      for (const value of [...VALUES, 'a'.repeat(3000)]) {
        for (const good of [{}, { [name]: undefined }]) {
          const path = `${authorizePath(trusted.id, good)}&${name}=${value}`
          const body = path.slice(path.indexOf('?') + 1)
          const headers = { 'content-type': 'application/x-www-form-urlencoded' }
          for (const answer of [
            await agent.get(path),
            await newAgent(service).get(path),
            await agent.send({ method: 'POST', path: '/auth/oauth2/authorize', headers, body }),
          ]) {
            assert.ok(answer.status < 500, path)
            const to = goesTo(answer)
            assert.ok(to === '' || to.startsWith(`${REDIRECT_URI}?`) || OWN.test(to), `${path} leads to ${to}`)
          }
        }
      }
    }
  })
})
