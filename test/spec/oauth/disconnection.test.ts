// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertJsonError,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { type Answer, createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { newGitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const service = await startServiceWith({ corp, github })
const database = await openDatabase(service)
const operator = await openOperator(service)

const nobody = 'nobody-is-called-so@example.com'
const newAgent = () => createUserAgent(service)

/** The owner of an account with a password, to which an attacker has connected a GitHub account of their own. */
const attacked = async () => {
  const owner = await signedUp(service)
  const { id } = await currentUser(owner.agent)
  const attacker = newGitHubPerson()
  const visit = (url: string) => github.visit(url, { person: attacker })
  assertRedirect(await signInBy(owner.agent, 'github', visit, { intent: 'link' }), '/auth/account?done=linked')
  return { ...owner, id, visit }
}

/** The same, with the owner's own account at corp connected as well. */
const withBoth = async () => {
  const account = await attacked()
  const own = newOpenIdUser()
  const visitCorp = (url: string) => corp.visit(url, { person: own })
  assertRedirect(await signInBy(account.agent, 'corp', visitCorp, { intent: 'link' }), '/auth/account?done=linked')
  return { ...account, visitCorp }
}

type Attacked = Awaited<ReturnType<typeof attacked>>

const comesByGithub = async ({ visit }: Pick<Attacked, 'visit'>) => {
  const agent = newAgent()
  assertRedirect(await signInBy(agent, 'github', visit), '/')
  return agent
}

const assertKeptOut = async (account: Attacked) =>
  assert.notEqual((await currentUser(await comesByGithub(account))).id, account.id, 'the attacker is a new user')

const assertLetIn = async (account: Attacked) =>
  assert.equal((await currentUser(await comesByGithub(account))).id, account.id)

const identitiesOf = async (userId: string): Promise<{ id: string; provider: string }[]> => {
  const rows = await database.rows('SELECT id, provider FROM identities WHERE user_id = ? ORDER BY id', userId)
  return rows.map(({ id, provider }) => ({ id: String(id), provider: String(provider) }))
}

const providersOf = async (userId: string) => (await identitiesOf(userId)).map(({ provider }) => provider)

describe('§4.2 svc users set-password', () => {
  test('disconnects providers, so that an attacker who connected one is locked out, and says so', async () => {
    const account = await withBoth()
    const inside = await comesByGithub(account)
    const { password } = newPerson()
    const told = await runCommandOf(service, ['users', 'set-password', account.person.email], password)
    assert.match(told, /new password.*all sessions have ended.*Disconnected: github, corp\./)
    await assertSignedOut(inside)
    await assertSignedOut(account.agent)
    await assertKeptOut(account)
    assert.deepEqual(await providersOf(account.id), [])
    await assertCannotLogIn(service, account.person)
    await assertCanLogIn(service, { ...account.person, password })
  })

  test('keeps them with --keep-providers, and says what is still connected', async () => {
    const account = await attacked()
    const args = ['users', 'set-password', account.person.username, '--keep-providers']
    assert.match(
      await runCommandOf(service, args, newPerson().password),
      /all sessions have ended.*Still connected: github\./,
    )
    await assertSignedOut(account.agent)
    await assertLetIn(account)
  })

  test('--json lists what was disconnected and what is connected; a refused password changes neither', async () => {
    const account = await attacked()
    const args = ['users', 'set-password', account.person.email]
    const refused = await service.cli(args, { input: 'short' })
    assert.equal(refused.code, 1)
    assert.deepEqual(await providersOf(account.id), ['github'])
    const kept = await runJsonCommandOf<object>(service, [...args, '--keep-providers'], newPerson().password)
    assert.partialDeepStrictEqual(kept, {
      id: account.id,
      disconnected_providers: [],
      connected_providers: ['github'],
    })
    const gone = await runJsonCommandOf<object>(service, args, newPerson().password)
    assert.partialDeepStrictEqual(gone, {
      id: account.id,
      disconnected_providers: ['github'],
      connected_providers: [],
    })
  })

  test('at the moment when the attacker signs in, or connects another provider: nothing of theirs is left', async () => {
    for (let round = 0; round < 4; round += 1) {
      const account = await attacked()
      const [late, linking] = [newAgent(), account.agent.copy()]
      const signIn = await account.visit(await startAt(late, 'github'))
      const another = await corp.visit(await startAt(linking, 'corp', { intent: 'link' }), {
        person: newOpenIdUser(),
      })
      await Promise.all([
        operator.users.setPassword(account.id, newPerson().password),
        returnFromProvider(late, signIn),
        returnFromProvider(linking, another),
      ])
      assert.deepEqual(await providersOf(account.id), [])
      assert.deepEqual(await database.rows('SELECT id FROM sessions WHERE user_id = ?', account.id), [])
    }
  })
})

const changePassword = (agent: UserAgent, current: string, next = newPerson().password) =>
  agent.post('/auth/account/password', { current_password: current, new_password: next })

const isChanged = ({ location }: Answer): boolean => location === '/auth/account?done=password#signing-in'

describe('§4.2 a change of the own password', () => {
  test('leads to a page that lists the connected providers, with a button to disconnect each at once', async () => {
    const account = await withBoth()
    // The sign-in was long ago; the current password is proof enough.
    await database.rows('UPDATE sessions SET authenticated_at = 0 WHERE user_id = ?', account.id)
    const changed = await changePassword(account.agent, account.person.password)
    assertRedirect(changed, '/auth/account?done=password')
    const { text } = await account.agent.get('/auth/account?done=password')
    assert.match(text, /role="status"[^>]*>Password changed\.[^<]* Disconnect anything below that isn’t yours\.</)
    const identities = await identitiesOf(account.id)
    assert.equal(identities.length, 2)
    const [list = ''] = /aria-labelledby="signing-in-title"[^]*?<\/section>/.exec(text) ?? []
    for (const { id } of identities) assert.ok(list.includes(`name="identity_id" value="${id}"`), list)
    assert.match(list, /^[^]*id="done"[^]*id="ways-in"[^]*name="identity_id"/, 'the message stands above them')
    const [githubs] = identities
    const unlinked = await account.agent.post('/auth/account/identities', { identity_id: githubs?.id ?? '' })
    assertRedirect(unlinked, '/auth/account?done=unlinked')
    await assertKeptOut(account)
    await assertSignedIn(account.agent)
    assert.deepEqual(await providersOf(account.id), ['corp'])
  })

  test('replaces the session: a stolen copy of the old one is of no use, and not made fresh', async () => {
    const account = await attacked()
    const thief = account.agent.copy()
    const other = await loggedIn(service, account.person)
    assertRedirect(await changePassword(account.agent, account.person.password), '/auth/account?done=password')
    await assertSignedIn(account.agent)
    assert.equal((await account.agent.refresh()).status, 200)
    for (const agent of [thief, other]) {
      assertJsonError(await agent.get('/auth/api/v1/user'), 401, 'unauthorized')
      assertJsonError(await agent.refresh(), 401, 'unauthorized')
    }
    const sessions = await database.rows('SELECT id FROM sessions WHERE user_id = ?', account.id)
    assert.equal(sessions.length, 1)
  })

  test('with a wrong current password, or a bad new one, makes no session fresh and changes nothing', async () => {
    const account = await attacked()
    await database.rows('UPDATE sessions SET authenticated_at = 0 WHERE user_id = ?', account.id)
    assert.equal((await changePassword(account.agent, 'wrong password')).status, 401)
    assert.equal((await changePassword(account.agent, account.person.password, 'short')).status, 422)
    await assertSignedIn(account.agent)
    const [linked] = await identitiesOf(account.id)
    const refused = await account.agent.post('/auth/account/identities', { identity_id: linked?.id ?? '' })
    assertRedirect(refused, '/auth/account/confirm')
    await assertCanLogIn(service, account.person)
  })

  test('twice at once: one counts, and one session is left', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { agent, person } = await signedUp(service)
      const { id } = await currentUser(agent)
      const tabs = [agent.copy(), agent.copy()]
      const answers = await Promise.all(tabs.map((tab) => changePassword(tab, person.password)))
      assert.equal(answers.filter(isChanged).length, 1)
      // The other one found the session ended: before it checked the password, or after.
      const other = answers.find((answer) => !isChanged(answer)) ?? assert.fail()
      if (other.status !== 401) assertRedirect(other, '/auth/login?return_to=%2Fauth%2Faccount')
      const sessions = await database.rows('SELECT id FROM sessions WHERE user_id = ?', id)
      assert.equal(sessions.length, 1)
      await assertSignedIn(tabs[answers.findIndex(isChanged)] ?? assert.fail())
    }
  })

  test('with nothing connected says only what was done; the page lists providers as before afterwards', async () => {
    const { agent, person } = await signedUp(service)
    assertRedirect(await changePassword(agent, person.password), '/auth/account?done=password')
    const { text } = await agent.get('/auth/account?done=password')
    assert.match(text, /role="status"[^>]*>Password changed\. Your other devices were logged out\.</)
    assert.ok(text.indexOf('id="profile"') < text.indexOf('id="ways-in"'))
  })
})

describe('§4.2 svc identities', { concurrency: 2 }, () => {
  test('list: a table for people, --json for programs', async () => {
    const account = await withBoth()
    const table = await runCommandOf(service, ['identities', 'list', account.person.email])
    assert.match(table, /provider.*email.*connected[^]*github[^]*corp/)
    const rows = await runJsonCommandOf<Record<string, unknown>[]>(service, [
      'identities',
      'list',
      account.person.username,
    ])
    assert.deepEqual(
      rows.map(({ provider, user_id }) => [provider, user_id]),
      [
        ['github', account.id],
        ['corp', account.id],
      ],
    )
    const [first] = rows
    assert.deepEqual(Object.keys(first ?? {}).toSorted(), [
      'created_at',
      'email',
      'id',
      'issuer',
      'provider',
      'subject',
      'user_id',
    ])
    const { person } = await signedUp(service)
    assert.deepEqual(await runJsonCommandOf<unknown[]>(service, ['identities', 'list', person.email]), [])
  })

  test('unlink USER PROVIDER: the provider no longer signs in, every session ends, other providers stay', async () => {
    const account = await withBoth()
    const inside = await comesByGithub(account)
    const told = await runCommandOf(service, ['identities', 'unlink', account.person.email, 'github'])
    assert.match(told, /Disconnected from \S+: github.* 2 sessions ended\./)
    await assertSignedOut(inside)
    await assertSignedOut(account.agent)
    await assertKeptOut(account)
    assert.deepEqual(await providersOf(account.id), ['corp'])
    await assertCanLogIn(service, account.person)
  })

  test('unlink USER --all disconnects everything; with nothing connected it changes nothing', async () => {
    const account = await withBoth()
    const args = ['identities', 'unlink', account.person.email, '--all']
    const json = await runJsonCommandOf<Record<string, unknown>>(service, args)
    assert.partialDeepStrictEqual(json, {
      user_id: account.id,
      disconnected: [{ provider: 'github' }, { provider: 'corp' }],
      ended: 1,
      can_sign_in: true,
    })
    assert.deepEqual(await providersOf(account.id), [])
    const again = await loggedIn(service, account.person)
    assert.match(await runCommandOf(service, args), /nothing was changed/i)
    await assertSignedIn(again)
  })

  test('unlink removes the last way to sign in, with a warning for the operator', async () => {
    const agent = newAgent()
    const person = newOpenIdUser()
    assertRedirect(await signInBy(agent, 'corp', (url) => corp.visit(url, { person })), '/')
    const { id, email, username } = await currentUser(agent)
    const { code, stdout, stderr } = await service.cli(['identities', 'unlink', email, 'corp', '--json'])
    assert.equal(code, 0, stderr)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { can_sign_in: false, ended: 1 })
    assert.match(
      stderr,
      new RegExp(`${email} has no way to sign in now: set a password with svc users set-password ${username}`),
    )
    assert.deepEqual(await providersOf(id), [])
    await assertSignedOut(agent)
  })

  test('a provider that is not connected: exit 1, the message names it, and nothing is changed', async () => {
    const account = await attacked()
    const { code, stdout, stderr } = await service.cli(['identities', 'unlink', account.person.email, 'gogle'])
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /"gogle".*github/)
    await assertSignedIn(account.agent)
    assert.deepEqual(await providersOf(account.id), ['github'])
  })

  for (const args of [
    ['list', nobody],
    ['unlink', nobody, 'github'],
    ['unlink', nobody, '--all'],
  ]) {
    test(`unknown user: exit 1, and the message names it: svc identities ${args.join(' ')}`, async () => {
      const { code, stderr } = await service.cli(['identities', ...args])
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(nobody))
    })
  }

  for (const args of [['list'], ['unlink'], ['unlink', 'ada'], ['unlink', 'ada', 'github', '--all'], ['nonsense']]) {
    test(`wrong usage: exit 2: svc identities ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await service.cli(['identities', ...args])
      assert.equal(code, 2)
      assert.equal(stdout, '')
      assert.match(stderr, /./)
    })
  }
})
