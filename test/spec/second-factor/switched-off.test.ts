// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { SECOND_FACTOR_PAGE as PAGE, setUpApp } from '../../support/second-factor/app-set-up.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { startService } from '../../support/service/service.ts'

test('with SVC_SECOND_FACTOR=off, codes are neither offered nor asked for, and are there again once it is on', async () => {
  const clock = turnedClock()
  const service = await startService({ clock })
  const { agent, person } = await signedUp(service)
  const { secret } = await setUpApp(agent, clock.now())

  await service.restart({ env: { SVC_SECOND_FACTOR: 'off' } })
  const browser = newAgent(service)
  assertRedirect(await logIn(browser, person), '/')
  assert.doesNotMatch((await browser.get('/auth/account')).text, /second-factor/)
  assertPage(await browser.get(PAGE), 404)
  for (const form of [{ code: '123456' }, { recovery_codes: 'new' }, { remove: '1' }])
    assertPage(await browser.post(PAGE, form), 404)

  await service.restart({ env: { SVC_SECOND_FACTOR: 'optional' } })
  await clock.turnTo(60_000)
  const asked = newAgent(service)
  assertRedirect(await logIn(asked, person), '/auth/login/code')
  assertRedirect(await asked.post('/auth/login/code', { code: codeAt(secret, clock.now()) }), '/')
  assert.match((await asked.get('/auth/account')).text, /<b>Authenticator app<\/b> <span class="badge">On</)
})
