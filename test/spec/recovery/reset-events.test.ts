// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { startLinkingService } from '../../support/provider/provider-accounts.ts'
import { openReset, RESET, resetBy, resetTokenOf, withNewPassword } from '../../support/recovery/reset.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'

const { service, database, newAgent, userOfCorp, userOfBoth, linkGithub, providersOf, assertSignsIn } =
  await startLinkingService()
const { db, links } = await openOperator(service)

const WAYS_IN = '/auth/account/ways-in'

/** The values of the buttons that remove a provider. */
const removable = (page: string): string[] =>
  [...page.matchAll(/name="identity_id" value="([^"]+)"/g)].map(([, id = '']) => id)

/** A verified account, whose user sets a first password by a link. */
const resetOfBoth = async () => {
  const { user, octo, person, agent: earlier } = await userOfBoth()
  const agent = newAgent()
  const token = await resetTokenOf(service, user.email)
  const answer = await resetBy(agent, token, 'a good password 1')
  return { user, octo, person, earlier, agent, answer }
}

describe('§4.2 after a reset', () => {
  test('providers stay connected, and the next page has a button to remove each', async () => {
    const { user, octo, person, earlier, agent, answer } = await resetOfBoth()
    assertRedirect(answer, `${WAYS_IN}?return_to=%2F`)
    await assertSignedOut(earlier)
    const shown = await agent.get(answer.location ?? '')
    assertPage(shown)
    const [first = '', second = '', ...more] = removable(shown.text)
    assert.ok(first && second && more.length === 0)
    assert.match(shown.text, /<a class="svc-button first" href="\/">/)

    await assertSignsIn('corp', person, user.id)
    const form = { identity_id: second, return_to: answer.location ?? '' }
    assertRedirect(await agent.post('/auth/account/identities', form), `${WAYS_IN}?return_to=%2F`)
    assert.deepEqual(removable((await agent.get(`${WAYS_IN}?return_to=%2F`)).text), [first])
    assert.deepEqual(await providersOf(user.id), ['corp'])
    await assertSignsIn('corp', person, user.id)
    assert.ok(octo)

    await agent.post('/auth/account/identities', { identity_id: first, return_to: `${WAYS_IN}?return_to=%2Fmembers` })
    assertRedirect(await agent.get(`${WAYS_IN}?return_to=%2Fmembers`), '/members')
    await assertCanLogIn(service, { ...user, password: 'a good password 1' })
  })

  test('the next page accepts only an own path, and asks for a session', async () => {
    const { agent } = await resetOfBoth()
    assertErrorPage(await agent.get(`${WAYS_IN}?return_to=%2F%2Fevil.example`), 400)
    assertErrorPage(await agent.get(`${WAYS_IN}?return_to=https%3A%2F%2Fevil.example`), 400)
    const { text } = await agent.get(`${WAYS_IN}?return_to=%2Fa%3Fb%3D%22%3E%3Cscript%3E`)
    assert.ok(!text.includes('<script>"'), 'escaped')
    assertRedirect(await newAgent().get(WAYS_IN), '/auth/login?return_to=%2Fauth%2Faccount')
    const [id = ''] = removable((await agent.get(WAYS_IN)).text)
    const form = { identity_id: id, return_to: '//evil.example' }
    assertErrorPage(await agent.post('/auth/account/identities', form), 400)
    assert.ok(removable((await agent.get(WAYS_IN)).text).includes(id), 'it is still connected')
  })

  test('where nobody had proved the address, providers end: they may be of the person who made the account', async () => {
    const { agent: attacker, person } = await signedUp(service)
    const { id } = await currentUser(attacker)
    assertRedirect(await linkGithub(attacker), '/auth/account?done=linked')
    const owner = newAgent()
    assertRedirect(await resetBy(owner, await resetTokenOf(service, person.email), 'a good password 1'), '/')
    assert.deepEqual(await providersOf(id), [])
    await assertSignedOut(attacker)
    await assertSignedIn(owner)
  })

  test('an account without a password gets one, and its session ends', async () => {
    const { agent, user } = await userOfCorp()
    const owner = newAgent()
    const answer = await resetBy(owner, await resetTokenOf(service, user.email), 'a good password 1')
    assertRedirect(answer, `${WAYS_IN}?return_to=%2F`)
    await assertSignedOut(agent)
    await assertCanLogIn(service, { ...user, password: 'a good password 1' })
  })
})

describe('§4.2 what a reset ends of a verified account', () => {
  test('all known browsers but this one, all links but undo, all sessions', async () => {
    const { person, agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    await runCommandOf(service, ['users', 'verify-email', person.email])
    const elsewhere = await loggedIn(service, person)
    const known = () => database.rows('SELECT device_hash FROM known_browsers WHERE user_id = ?', id)
    const before = await known()
    assert.ok(before.length >= 1)

    const link = { userId: id, emailLower: person.email, lifetimeMs: 3_600_000 }
    const create = (purpose: 'undo' | 'verify' | 'not_me') =>
      db.inTransaction((transaction) => links.issued.create(transaction, { ...link, purpose }))
    const [undo, verify, notMe] = [await create('undo'), await create('verify'), await create('not_me')]
    const owner = newAgent()
    const next = withNewPassword(person)
    assertRedirect(await resetBy(owner, await resetTokenOf(service, person.email), next.password), '/')

    const after = await known()
    assert.equal(after.length, 1)
    assert.ok(!before.some(({ device_hash: hash }) => hash === after[0]?.device_hash))
    assert.equal(await links.issued.isLive(undo.link.id), true)
    assert.equal(await links.issued.isLive(verify.link.id), false)
    assert.equal(await links.issued.isLive(notMe.link.id), false)
    for (const ended of [agent, elsewhere]) await assertSignedOut(ended)
    await assertSignedIn(owner)
  })

  test('a token of another purpose is unknown to the page of a reset', async () => {
    const { person, agent } = await signedUp(service)
    const { id: userId } = await currentUser(agent)
    for (const purpose of ['verify', 'signup', 'new_email', 'undo', 'invite', 'not_me'] as const) {
      const { token } = await db.inTransaction((transaction) =>
        links.issued.create(transaction, { purpose, userId, emailLower: person.email, lifetimeMs: 3_600_000 }),
      )
      assertPage(await openReset(newAgent(), token), 410)
      assertPage(await resetBy(newAgent(), token, 'a good password 1'), 410)
    }
    await assertCanLogIn(service, person)
  })

  test('a link that dies between the check and the change changes nothing, and says why', async () => {
    const { person } = await signedUp(service)
    const make = async () => links.issued.require(['reset'], await resetTokenOf(service, person.email))
    const [ended, used] = [await make(), await make()]
    const use = (link: typeof ended) => db.inTransaction((transaction) => links.issued.use(transaction, link))
    await use(used)
    await assert.rejects(use(used), { name: 'DeadLinkError', state: 'used' })
    await runCommandOf(service, ['users', 'disable', person.email])
    await assert.rejects(use(ended), { name: 'DeadLinkError', state: 'ended' })
  })

  test('the database never holds the token', async () => {
    const { person } = await signedUp(service)
    const token = await resetTokenOf(service, person.email)
    const contents = await database.contents()
    for (const text of [token, Buffer.from(token).toString('base64'), Buffer.from(token, 'base64url').toString('hex')])
      assert.ok(!contents.includes(text))
    assert.equal((await newAgent().get(`${RESET}?token=${token}`)).status, 200)
  })
})
