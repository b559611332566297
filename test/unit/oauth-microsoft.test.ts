// Runs once.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/lib/time.ts'
import { createOpenidProvider } from '../../src/oauth/providers/openid.ts'
import { microsoftIssuer } from '../../src/oauth/providers/presets.ts'
import { createProviderFetch } from '../../src/oauth/providers/provider-fetch.ts'
import { startMisbehavingProvider } from '../support/provider/misbehaving-provider.ts'

const MICROSOFT = 'https://login.microsoftonline.com'
const stand = await startMisbehavingProvider({ profile: 'microsoft' })
const { clientId, clientSecret } = stand
const exchange = createProviderFetch(stand.origin)

/** Microsoft's addresses in place of those of the stand-in, except for the issuer, which is in its tokens. */
const atMicrosoft = (document: unknown) =>
  Object.fromEntries(
    Object.entries(document as Record<string, unknown>).map(([name, value]) => [
      name,
      typeof value === 'string' && name !== 'issuer' ? value.replace(stand.origin, MICROSOFT) : value,
    ]),
  )

const providerOf = (tenant: string) =>
  createOpenidProvider({
    settings: {
      name: 'microsoft',
      kind: 'microsoft',
      label: 'Microsoft',
      iconUrl: undefined,
      clientId,
      clientSecret,
      issuer: microsoftIssuer(tenant),
      scopes: ['openid', 'email', 'profile'],
      allowedDomains: [],
      trustsEmail: false,
      secondFactor: 'ask',
      apple: undefined,
    },
    timeoutMs: 5000,
    clock: systemClock,
    fetch: async (url, options) => {
      const response = await exchange(url.replace(MICROSOFT, stand.origin), options)
      return url.includes('/.well-known/') ? Response.json(atMicrosoft(await response.json())) : response
    },
  })

const signIn = async (tenant: string, claims: object = {}) => {
  const provider = providerOf(tenant)
  const request = {
    redirectUri: 'http://localhost/auth/oauth/microsoft/callback',
    state: randomUUID(),
    nonce: randomUUID(),
    codeVerifier: randomUUID() + randomUUID(),
    signInNotBeforeMs: undefined,
  }
  const url = await provider.authorizationUrl(request)
  assert.equal(url.origin, MICROSOFT)
  const callback = await stand.visit(url.href.replace(MICROSOFT, stand.origin), {
    person: { ...stand.person, ...claims },
  })
  return provider.fetchProfile(new URL(callback.url).searchParams, request)
}

const { tid, sub } = stand.person
const own = String(tid)
const issuerOf = (tenant: unknown) => `${stand.origin}/${String(tenant)}/v2.0`

describe('Microsoft', () => {
  for (const tenant of ['common', 'organizations']) {
    test(`${tenant}: the issuer is the tenant of the user`, async () => {
      const { issuer, subject, email, emailVerified } = await signIn(tenant)
      assert.deepEqual([issuer, subject], [issuerOf(tid), sub])
      assert.equal(email?.shown, stand.person.email)
      assert.equal(emailVerified, false, 'its emails are not proof of ownership')
      const other = randomUUID()
      assert.equal((await signIn(tenant, { tid: other })).issuer, issuerOf(other))
    })
  }

  test('its emails are verified only if verified claims say so', async () => {
    assert.equal((await signIn('common', { xms_edov: true })).emailVerified, true)
    const proven = { verified_primary_email: [stand.person.email] }
    assert.equal((await signIn('common', proven)).emailVerified, true)
    assert.equal((await signIn('common', { email_verified: true })).emailVerified, false)
  })

  test('a token that names another tenant than its issuer, or none, is refused', async () => {
    for (const idToken of ['other-tenant', 'no-tenant', 'wrong-iss', 'no-iss'] as const) {
      stand.fault = { idToken }
      await assert.rejects(signIn('common'), { reason: 'unverifiable' }, idToken)
    }
    stand.fault = {}
  })

  test('with one tenant configured, users of others are refused', async () => {
    assert.equal((await signIn(own)).issuer, issuerOf(tid))
    await assert.rejects(signIn(own, { tid: randomUUID() }), { reason: 'unverifiable' })
  })
})
