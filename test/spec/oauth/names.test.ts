// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { type GitHubPerson, newGitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { reclaim } from '../../support/provider/provider-accounts.ts'
import { PATIENT, pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { invite } from '../../support/recovery/invitation.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import type { Service } from '../../support/service/service.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const start = (mode: string) => startServiceWith({ corp, github }, { env: { ...PATIENT, SVC_NAMES: mode } })
const service = await start('optional')
const required = await start('required')
const off = await start('off')

const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })
const byGithub = (person: GitHubPerson) => (url: string) => github.visit(url, { person })

/** The user of corp who signs in at a service, and their name there. */
const atService = async (person: OpenIdUser, where: Service = service) => {
  const agent = createUserAgent(where)
  assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
  return { agent, name: (await currentUser(agent)).name }
}

test('a new account gets the name that the person has at the provider, as a name is stored here', async () => {
  assert.equal((await atService(newOpenIdUser({ name: ' Jose\u0301 Álvarez\n' }))).name, 'José Álvarez')
  const octo = newGitHubPerson({ user: { name: 'Octo Cat' } })
  const agent = createUserAgent(service)
  assertRedirect(await signInBy(agent, 'github', byGithub(octo)), '/')
  assert.equal((await currentUser(agent)).name, 'Octo Cat')
})

test('a name that is not accepted here is left out, and the account is made all the same', async () => {
  const names = [
    '',
    '   ',
    'x'.repeat(101),
    'x'.repeat(100_000),
    'A\u202edA',
    'A\nB',
    'A\0B',
    '\u200b',
    '\ud83d',
    7,
    ['Ada'],
    {},
  ]
  for (const name of [...names, null])
    for (const where of [service, required]) {
      const claims = { ...newOpenIdUser(), name } as OpenIdUser
      assert.equal((await atService(claims, where)).name, null, JSON.stringify(name)?.slice(0, 40))
    }
})

test('where a name is required, a person without one gets the account, whose page asks for it', async () => {
  const { name: _name, ...person } = newOpenIdUser()
  const { agent, name } = await atService(person, required)
  assert.equal(name, null)
  assert.match((await agent.get('/auth/account')).text, /Please add your name\./)
  assertRedirect(await agent.post('/auth/account/name', { name: 'Ada' }), '/auth/account?done=name')
  assert.equal((await atService(person, required)).name, 'Ada')
})

test('where there are no names, none is kept', async () => {
  const person = newOpenIdUser({ name: 'Unspoken' })
  assert.equal((await atService(person, off)).name, undefined)
  assert.doesNotMatch(await runCommandOf(off, ['users', 'export']), /Unspoken/)
})

test('a later sign-in changes no name: neither that of the user, nor that they have none', async () => {
  const person = newOpenIdUser({ name: 'Before' })
  const { agent } = await atService(person)
  assert.equal((await atService({ ...person, name: 'After' })).name, 'Before')
  assertRedirect(await agent.post('/auth/account/name', { name: '' }), '/auth/account?done=name')
  assert.equal((await atService({ ...person, name: 'After' })).name, null)
})

test('a provider that is connected to an account changes no name', async () => {
  const { agent } = await signedUp(service)
  const person = newOpenIdUser({ name: 'Ada' })
  assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'link' }), '/auth/account?done=linked')
  assert.equal((await currentUser(agent)).name, null)
})

test('an invited user who comes with a provider gets its name, unless the operator gave one', async () => {
  for (const [options, name] of [
    [[], 'Ada at Corp'],
    [['--name', 'Ada'], 'Ada'],
  ] as const) {
    const person = newOpenIdUser({ name: 'Ada at Corp' })
    await invite(service, person.email ?? '', ...options)
    assert.equal((await atService(person)).name, name)
    const other = newOpenIdUser({ name: 'Ada at Corp' })
    const { token } = await invite(service, other.email ?? '', ...options)
    const agent = createUserAgent(service)
    const { status } = await signInBy(agent, 'corp', byCorp(other), { intent: 'invite', token })
    assert.equal(status, 303)
    assert.equal((await currentUser(agent)).name, name)
  }
})

test('the owner of an address who takes the account over finds nothing of the name of the stranger', async () => {
  const { person } = await signedUp(service, { ...newPerson(), name: 'Buy at evil.example' })
  const agent = createUserAgent(service)
  const owner = newOpenIdUser({ email: person.email, name: 'Ada' })
  const page = await signInBy(agent, 'corp', byCorp(owner))
  assert.equal((await reclaim(agent, pendingOn(page))).status, 303)
  assert.equal((await currentUser(agent)).name, null)
})
