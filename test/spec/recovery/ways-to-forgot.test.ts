// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { askForLink, FORGOT, openReset, resetBy, resetTokenOf, withNewPassword } from '../../support/recovery/reset.ts'
import { startService } from '../../support/service/service.ts'

/** Nothing listens there: these tests send nothing. */
const MAIL = { SVC_SMTP_URL: 'smtp://127.0.0.1:9', SVC_MAIL_FROM: 'svc@example.com', SVC_EMAIL_VERIFICATION: 'off' }
const SUPPORT = 'https://help.example.com/passwords?a=1'

/** The target of the link "Forgot your password?"; undefined where there is none. */
const forgotHref = (page: string): string | undefined =>
  /<a (?:class="aside" )?href="([^"]*)">Forgot your password\?/.exec(page)?.[1]?.replaceAll('&amp;', '&')

const withMail = await startService({ env: MAIL })

describe('the link "Forgot your password?" with mail', () => {
  const service = withMail

  test('is on the login page, and carries return_to', async () => {
    const agent = createUserAgent(service)
    assert.equal(forgotHref((await agent.get('/auth/login')).text), FORGOT)
    const { text } = await agent.get('/auth/login?return_to=%2Fa%3Fb%3D%26c')
    assert.equal(forgotHref(text), `${FORGOT}?return_to=%2Fa%3Fb%3D%26c`)
  })

  test('carries the email that was typed with a wrong password', async () => {
    const { person } = await signedUp(service)
    const agent = newAgent(service)
    const refused = await logIn(agent, { ...person, password: 'wrong' }, { return_to: '/members' })
    assertPage(refused, 401)
    const href = forgotHref(refused.text) ?? ''
    assert.equal(href, `${FORGOT}?email=${person.email}&return_to=%2Fmembers`)
    const shown = await agent.get(href)
    assertPage(shown)
    assert.ok(shown.text.includes(`value="${person.email}"`))
    assert.ok(shown.text.includes('name="return_to" value="/members"'))
  })

  test('is on the account page and on that of re-authentication, with the email of the account', async () => {
    const { agent, person } = await signedUp(service)
    for (const path of ['/auth/account', '/auth/account/confirm']) {
      const { text } = await agent.get(path)
      assert.equal(forgotHref(text), `${FORGOT}?email=${person.email}`, path)
    }
  })

  test('a form that is too old is shown again with what was typed, and nothing is asked for', async () => {
    const agent = newAgent(service)
    const answer = await askForLink(agent, 'ada@example.com', { csrf_token: 'y'.repeat(43) })
    assertPage(answer, 403)
    assert.ok(answer.text.includes('value="ada@example.com"'))
    const { person } = await signedUp(service)
    const token = await resetTokenOf(service, person.email)
    const browser = newAgent(service)
    const next = withNewPassword(person)
    const refused = await resetBy(browser, token, next.password, { csrf_token: 'y'.repeat(43) })
    assertPage(refused, 403)
    assert.equal(refused.headers['referrer-policy'], 'strict-origin')
    assert.ok(refused.text.includes(token) && !refused.text.includes(next.password))
    assert.equal((await resetBy(browser, token, next.password)).status, 303)
  })
})

const service = await startService()
const withSupport = await startService({ env: { SVC_SUPPORT_URL: SUPPORT, SVC_APP_NAME: 'Members' } })

describe('while mail is off', () => {
  test('the page does not exist, and says whom to ask', async () => {
    const agent = newAgent(withSupport)
    for (const answer of [await agent.get(FORGOT), await askForLink(agent, 'ada@example.com')]) {
      assertPage(answer, 404)
      assert.ok(answer.text.includes(`<a href="${SUPPORT}">Contact support.</a>`))
    }
    assertPage(await newAgent(service).get(FORGOT), 404)
  })

  test('"Forgot your password?" names SVC_SUPPORT_URL', async () => {
    const { agent } = await signedUp(withSupport)
    const pages = [await newAgent(withSupport).get('/auth/login'), await agent.get('/auth/account')]
    for (const { text } of pages)
      assert.ok(text.includes(`Forgot your password? <a href="${SUPPORT}">Contact support.</a>`))
  })

  test('without SVC_SUPPORT_URL it says whom to ask', async () => {
    const { text } = await createUserAgent(service).get('/auth/login')
    assert.equal(forgotHref(text), undefined)
    assert.match(text, /Forgot your password\? Contact the people who run localhost\./)
  })

  test('a link that is not good says whom to ask for another one', async () => {
    const answer = await openReset(createUserAgent(withSupport), 'x'.repeat(43))
    assertPage(answer, 410)
    assert.ok(answer.text.includes(`Need a new link? <a href="${SUPPORT}">Contact support.</a>`))
    assert.ok(!answer.text.includes(FORGOT))
  })
})

test('with https, no other host can set the cookie of the browser that asks', async (t) => {
  const https = await startService({ t, env: { ...MAIL, SVC_BASE_URL: 'https://app.example.com' } })
  const answer = await askForLink(newAgent(https), 'ada@example.com')
  assertPage(answer)
  const { attributes } = answer.cookie('__Host-svc_link') ?? assert.fail('no cookie')
  assert.deepEqual(
    [attributes.path, attributes.httponly, attributes.secure, attributes.domain],
    ['/', '', '', undefined],
  )
})
