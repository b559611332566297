// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logIn, newAgent, newPerson, signUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { postJson, registrationOptions } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { PATIENT, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { acceptBy, invite } from '../../support/recovery/invitation.ts'
import { resetBy, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { verifyBy } from '../../support/recovery/verification.ts'
import { startService } from '../../support/service/service.ts'

const smtp = await startSmtpServer()
const corp = await startOpenIdProvider()
const SETTING = { SVC_AFTER_SIGNUP_URL: '/welcome?step=1#top' }
const service = await startServiceWith({ corp }, { env: { ...PATIENT, ...SETTING } })
const mailed = await startService({ env: { ...smtp.env, ...SETTING, SVC_EMAIL_VERIFICATION: 'required' } })
const required = await startService({ env: { ...SETTING, SVC_SECOND_FACTOR: 'required' } })
const withoutPasswords = await startService({ env: { ...SETTING, SVC_PASSWORDS: 'off' } })

const ALONE = '/welcome?step=1#top'
const WITH_KEPT = '/welcome?step=1&return_to=%2Fkept%3Fa%3Db%26c#top'
const KEPT = { return_to: '/kept?a=b&c' }

describe('§4.5 SVC_AFTER_SIGNUP_URL is where a user goes who has just created an account', () => {
  test('by the form, with return_to where one was asked for; a later login goes where a login goes', async () => {
    const person = newPerson()
    assertRedirect(await signUp(newAgent(service), person), ALONE)
    assertRedirect(await signUp(newAgent(service), { ...newPerson(), ...KEPT }), WITH_KEPT)
    assertRedirect(await logIn(newAgent(service), person), '/')
    assertRedirect(await logIn(newAgent(service), person, KEPT), KEPT.return_to)
  })

  test('by a provider, the first time alone', async () => {
    const person = newOpenIdUser()
    const signIn = () => signInBy(newAgent(service), 'corp', (url) => corp.visit(url, { person }), KEPT)
    assertRedirect(await signIn(), WITH_KEPT)
    assertRedirect(await signIn(), KEPT.return_to)
  })

  test('by the link of a signup that waited for it', async () => {
    const person = newPerson()
    const agent = newAgent(mailed)
    await signUp(agent, { ...person, ...KEPT })
    assertRedirect(await verifyBy(agent, tokenOf((await smtp.receivedFor(person.email)).link)), WITH_KEPT)
    assertRedirect(await logIn(newAgent(mailed), person, KEPT), KEPT.return_to)
  })

  test('by an invitation, with a password, a provider or a passkey', async () => {
    const password = newPerson().password
    assertRedirect(await acceptBy(newAgent(service), (await invite(service, newPerson().email)).token, password), ALONE)

    const { email } = newPerson()
    const person = newOpenIdUser({ email })
    const form = { intent: 'invite', token: (await invite(service, email)).token }
    assertRedirect(await signInBy(newAgent(service), 'corp', (url) => corp.visit(url, { person }), form), ALONE)

    const link = { purpose: 'invite', token: (await invite(withoutPasswords, newPerson().email)).token }
    const agent = newAgent(withoutPasswords)
    const response = createAuthenticator({ origin: withoutPasswords.url }).register(
      await registrationOptions(agent, link),
    )
    const added = await postJson(agent, '/auth/passkeys/register', { ...response, ...link })
    const waysIn = `/auth/account/ways-in?return_to=${encodeURIComponent(ALONE)}`
    assert.equal(added.location, `/auth/account/second-factor?return_to=${encodeURIComponent(waysIn)}`)
  })

  test('by a reset in place of an invitation; a reset of an account that was entered goes on as before', async () => {
    const { email, password } = newPerson()
    await invite(service, email)
    assertRedirect(await resetBy(newAgent(service), await resetTokenOf(service, email), password), ALONE)
    assertRedirect(await resetBy(newAgent(service), await resetTokenOf(service, email), `${password}!`), '/')
  })

  test('once the second factor is set up that the account must have', async () => {
    const agent = newAgent(required)
    const { location = '' } = await signUp(agent, { ...newPerson(), ...KEPT })
    assert.equal(location, `/auth/login/enrol?return_to=${encodeURIComponent(WITH_KEPT)}`)
    const page = await agent.get(location)
    assert.equal(page.status, 200)
    const response = createAuthenticator({ origin: required.url }).register(await registrationOptions(agent))
    const added = await postJson(agent, '/auth/passkeys/register', response)
    assert.equal(added.location, `/auth/account/second-factor?return_to=${encodeURIComponent(WITH_KEPT)}`)
  })

  test('a return_to that would make too long an address is left out', async () => {
    const long = `/${'%20'.repeat(600)}`
    assertRedirect(await signUp(newAgent(service), { ...newPerson(), return_to: long }), ALONE)
    const { location = '' } = await signUp(newAgent(required), { ...newPerson(), return_to: long })
    assert.equal(location, `/auth/login/enrol?return_to=${encodeURIComponent(ALONE)}`)
  })
})
