// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { type OpenIdUser, newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, pendingOn, startServiceWith, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { startSignupService } from '../../support/provider/provider-signups.ts'
import { createUser, deleteUser, disableUser, enableUser } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'

const {
  providers,
  settings,
  service,
  database,
  newAgent,
  byCorp,
  signInByCorp,
  userOfCorp,
  eventsOf,
  receiveEvents,
  countAccounts,
} = await startSignupService()

const personAt = (domain: string) => newOpenIdUser({ email: `${randomUUID()}@${domain}` })

/** A user with an email of another domain, for whom the provider sends `hd` as the organisation. */
const visitWithDomain = async (name: 'google' | 'guests', hd: unknown) => {
  const agent = newAgent()
  const { visit } = providers[name]
  const answer = await signInBy(agent, name, (url) => visit(url, { person: { ...newOpenIdUser(), hd } }))
  return { agent, answer }
}

describe('`SVC_OAUTH_<NAME>_ALLOWED_DOMAINS` restricts by verified email domain or hosted domain', () => {
  for (const domain of ['staff.example', 'STAFF.Example', 'staff2.example']) {
    test(`${domain} is allowed`, async () =>
      assertRedirect((await signInByCorp(personAt(domain), 'staff')).answer, '/'))
  }
  for (const domain of ['example.com', 'sub.staff.example', 'xstaff.example', 'staff.example.com', 'example']) {
    test(`${domain} is not`, async () => {
      const { agent, answer } = await signInByCorp(personAt(domain), 'staff')
      assertNoSession(agent, answer, 403)
      assert.match(answer.text, /That account can’t log in here/)
    })
  }

  test('the page shows the refused email as text, and none where the provider sent an invalid one', async () => {
    const email = `o'neil&co=+${randomUUID()}@example.com`
    const { answer } = await signInByCorp(newOpenIdUser({ email }), 'staff')
    assert.ok(
      answer.text.includes(`Staff gave us <b>${email.replace('&', '&amp;').replace("'", '&#39;')}</b>.`),
      answer.text,
    )
    for (const unreadable of ['<script>alert(1)</script>@example.com', 'a@b@c.example', 'a b@example.com']) {
      const { text, status } = (await signInByCorp(newOpenIdUser({ email: unreadable }), 'staff')).answer
      assert.equal(status, 403)
      assert.doesNotMatch(text, /gave us/)
      assert.doesNotMatch(text, /alert|a@b|b@example/)
    }
  })

  test('a known user must belong to an allowed domain too', async () => {
    const person = personAt('staff.example')
    const { answer } = await signInByCorp(person, 'staff')
    assertRedirect(answer, '/')
    const left = await signInByCorp(
      { ...person, email: person.email?.replace('staff.example', 'example.com') ?? '' },
      'staff',
    )
    assertNoSession(left.agent, left.answer, 403)
    const { user } = await userOfCorp()
    const other = await signInByCorp(newOpenIdUser({ email: user.email }), 'staff')
    assertNoSession(other.agent, other.answer, 403)
    assert.doesNotMatch(other.answer.text, /already an account/)
  })

  test('an unverified email of an allowed domain does not count', async () => {
    const person = { ...personAt('staff.example'), email_verified: false }
    const { agent, answer } = await signInByCorp(person, 'staff')
    assertNoSession(agent, answer, 403)
  })

  test('Google’s `hd` counts; that of other providers does not', async () => {
    for (const hd of ['org.example', 'ORG.example']) assertRedirect((await visitWithDomain('google', hd)).answer, '/')
    for (const hd of [undefined, '', 'example.com', 'sub.org.example', ['org.example'], null]) {
      const { agent, answer } = await visitWithDomain('google', hd)
      assertNoSession(agent, answer, 403)
    }
    const { agent, answer } = await visitWithDomain('guests', 'org.example')
    assertNoSession(agent, answer, 403)
  })
})

describe('disabled users cannot sign in', () => {
  test('by a known identity, until an operator enables them again', async () => {
    const { user, person, agent } = await userOfCorp()
    await disableUser(service, user.id)
    await assertSignedOut(agent)
    const again = await signInByCorp(person)
    assertNoSession(again.agent, again.answer, 403)
    assert.match(again.answer.text, /disabled/)
    await enableUser(service, user.id)
    assertRedirect((await signInByCorp(person)).answer, '/')
  })

  test('by their email: the account can be neither linked nor reclaimed', async () => {
    const { person } = await signedUp(service)
    const sealed = newAgent()
    const page = await signInBy(sealed, 'corp', byCorp(newOpenIdUser({ email: person.email })))
    const pending = pendingOn(page)
    await disableUser(service, person.email)
    const { agent, answer } = await signInByCorp(newOpenIdUser({ email: person.email }))
    assertNoSession(agent, answer, 403)
    const { password } = person
    for (const [step, form] of Object.entries({ link: { pending, password }, claim: { pending } })) {
      const refused = await sealed.post(`/auth/oauth/corp/${step}`, form)
      assert.ok([401, 403, 409].includes(refused.status), `${step}: ${refused.status}`)
      assertNoSession(sealed, refused, refused.status)
    }
    await enableUser(service, person.email)
    assertRedirect(await newAgent().post('/auth/login', { email: person.email, password }), '/')
  })

  test('not even at the moment of the callback', async () => {
    const operator = await openOperator(service)
    for (let round = 0; round < 8; round += 1) {
      const { user, person } = await userOfCorp()
      const agent = newAgent()
      const callback = await byCorp(person)(await startAt(agent, 'corp'))
      const [answer] = await Promise.all([
        returnFromProvider(agent, callback),
        operator.users.change(user.id, { disabled: true }),
      ])
      assert.ok([303, 403].includes(answer.status), answer.text)
      await assertSignedOut(agent)
    }
  })

  test('not if they were disabled while at the provider', async () => {
    const { user, person } = await userOfCorp()
    const agent = newAgent()
    const callback = await byCorp(person)(await startAt(agent, 'corp'))
    await disableUser(service, user.id)
    assertNoSession(agent, await returnFromProvider(agent, callback), 403)
  })
})

describe('deleting a user deletes the identities too', () => {
  test('the same person signs up again, as a new user', async () => {
    const { user, person, agent } = await userOfCorp()
    await deleteUser(service, user.id)
    await assertSignedOut(agent)
    assert.deepEqual(await database.rows('SELECT id FROM identities WHERE subject = ?', person.sub), [])
    const { user: second } = await userOfCorp(person)
    assert.notEqual(second.id, user.id)
    assert.deepEqual({ ...second, id: '', created_at: '' }, { ...user, id: '', created_at: '' })
    await receiveEvents()
    assert.deepEqual(eventsOf(user.id), ['user.created', 'user.deleted'])
    assert.deepEqual(eventsOf(second.id), ['user.created'])
  })

  test('a user who is deleted while at the provider comes back as a new user', async () => {
    const { user, person } = await userOfCorp()
    const agent = newAgent()
    const callback = await byCorp(person)(await startAt(agent, 'corp'))
    await deleteUser(service, user.id)
    assertRedirect(await returnFromProvider(agent, callback), '/')
    assert.notEqual((await currentUser(agent)).id, user.id)
  })
})

describe('`SVC_SIGNUP=off` holds for providers', () => {
  test('new users are refused; a known user, and one who proves an account, is signed in', async (t) => {
    const { person: known, user } = await userOfCorp()
    const closed = await startServiceWith(providers, {
      t,
      cwd: service.directory,
      env: { ...settings, SVC_SIGNUP: 'off' },
    })
    const at = async (person: OpenIdUser) => {
      const agent = newAgent(closed)
      return { agent, answer: await signInBy(agent, 'corp', byCorp(person), { return_to: '/kept' }) }
    }
    const stranger = newOpenIdUser()
    const { agent, answer } = await at(stranger)
    assertNoSession(agent, answer, 403)
    assert.match(answer.text, /Sign-up is closed/)
    assert.equal(await countAccounts(stranger.email ?? ''), 0)

    const back = await at(known)
    assertRedirect(back.answer, '/kept')
    assert.equal((await currentUser(back.agent)).id, user.id)

    const made = newPerson()
    await createUser(service, made)
    const proving = await at(newOpenIdUser({ email: made.email }))
    assertNoSession(proving.agent, proving.answer, 409)
    const { password } = made
    const form = { pending: pendingOn(proving.answer), password }
    assertRedirect(await proving.agent.post('/auth/oauth/corp/link', form), '/kept')
    assert.equal((await currentUser(proving.agent)).username, made.username)
  })
})

describe('concurrent sign-ins', () => {
  test('50 people at once each get their own account', async () => {
    const people = Array.from({ length: 50 }, () => newOpenIdUser({ preferred_username: 'Crowd', name: 'Crowd' }))
    const users = await Promise.all(
      people.map(async (person) => {
        const agent = newAgent()
        assertRedirect(await signInBy(agent, 'corp', byCorp(person), { return_to: `/${person.sub}` }), `/${person.sub}`)
        return currentUser(agent)
      }),
    )
    assert.deepEqual(
      users.map(({ email }) => email),
      people.map(({ email }) => email),
    )
    assert.equal(new Set(users.map(({ id }) => id)).size, 50)
    assert.equal(new Set(users.map(({ username }) => username)).size, 50)
    for (const { username } of users) assert.match(username, /^crowd\d*$/)
  })

  test('20 browsers of one new person at once make one account and one event', async () => {
    const person = newOpenIdUser()
    const waiting = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const agent = newAgent()
        return { agent, callback: await byCorp(person)(await startAt(agent, 'corp')) }
      }),
    )
    const answers = await Promise.all(waiting.map(({ agent, callback }) => returnFromProvider(agent, callback)))
    for (const answer of answers) assertRedirect(answer, '/')
    const users = await Promise.all(waiting.map(({ agent }) => currentUser(agent)))
    assert.equal(new Set(users.map(({ id }) => id)).size, 1)
    await receiveEvents()
    assert.deepEqual(eventsOf(users[0]?.id ?? ''), ['user.created'])
  })

  test('20 people with one email at once: one gets the account, the others must prove that it is theirs', async () => {
    const email = `${randomUUID()}@example.com`
    const waiting = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const agent = newAgent()
        return { agent, callback: await byCorp(newOpenIdUser({ email }))(await startAt(agent, 'corp')) }
      }),
    )
    const answers = await Promise.all(waiting.map(({ agent, callback }) => returnFromProvider(agent, callback)))
    const statuses = statusesOf(answers)
    assert.deepEqual(statuses, [303, ...Array.from({ length: 19 }, () => 409)])
  })

  test('a signup by password and one by a provider with the same email at once: one account', async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = newPerson()
      const agent = newAgent()
      const callback = await byCorp(newOpenIdUser({ email: person.email }))(await startAt(agent, 'corp'))
      const other = newAgent()
      const [byProvider, byPassword] = await Promise.all([returnFromProvider(agent, callback), signUp(other, person)])
      const statuses = statusesOf([byProvider, byPassword])
      assert.deepEqual(statuses, [303, 409])
      await assertSignedIn(byProvider.status === 303 ? agent : other)
      assert.equal(await countAccounts(person.email), 1)
    }
  })
})
