// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import type { Claims } from '../../support/provider/misbehaving-provider-faults.ts'
import { assertNoSession, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'

const corp = await startMisbehavingProvider()
const started = await startServiceWith({ corp }, { env: { SVC_RATE_LIMIT: 'on' } })
const service = { ...started, headers: { 'x-forwarded-for': '198.51.100.7' } }

/** The provider's claims about a user. */
const newClaims = (): Claims => {
  const { email, username } = newPerson()
  return { sub: username, email, email_verified: true }
}

const signIn = (person: Claims, agent: UserAgent = createUserAgent(service)) =>
  signInBy(agent, 'corp', (url) => corp.visit(url, { person }))

test('sign-ins with a provider count as logins: 30 in 15 minutes for a user and a network', async () => {
  const person = newClaims()
  for (let count = 0; count < 30; count++) assertRedirect(await signIn(person), '/')
  const agent = createUserAgent(service)
  const answer = await signIn(person, agent)
  assertNoSession(agent, answer, 429)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d{2}$/)
  assertRedirect(await signIn(newClaims()), '/')
})

test('setting a first password counts as a password form of the account page: 30 in 15 minutes', async () => {
  const agent = createUserAgent(service)
  assertRedirect(await signIn(newClaims(), agent), '/')
  const set = (password: string) => agent.post('/auth/account/password', { new_password: password })
  for (let count = 0; count < 30; count++) assertPage(await set('short'), 422)
  const answer = await set(newPerson().password)
  assertPage(answer, 429)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d{2}$/)
  await assertSignedIn(agent)
})
