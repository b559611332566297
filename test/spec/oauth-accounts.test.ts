import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertRedirect, assertSignedIn, assertSignedOut } from '../support/assertions.ts'
import type { Environment } from '../support/command.ts'
import { openDatabase } from '../support/database.ts'
import type { GitHubEmail } from '../support/github-server.ts'
import { newGitHubPerson, startGitHubServer } from '../support/github-server.ts'
import { startMisbehavingProvider } from '../support/misbehaving-provider.ts'
import { startOpenIdProvider } from '../support/openid-provider.ts'
import type { OpenIdPerson } from '../support/openid-provider-people.ts'
import { newOpenIdPerson } from '../support/openid-provider-people.ts'
import { createUser, deleteUser, disableUser, enableUser, showUser } from '../support/operator.ts'
import { currentUser, newPerson, signedUp, signUp } from '../support/people.ts'
import { assertNoSession, pendingOn, startServiceWith, statusesOf } from '../support/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../support/provider-sign-in.ts'
import { openOperator } from '../support/replicas.ts'
import type { Service } from '../support/service.ts'
import { createUserAgent } from '../support/user-agent.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const webhooks = await startWebhookReceiver()
const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const google = await startMisbehavingProvider({ profile: 'google' })
/** Says what it is told to say, and nothing of whether emails are verified unless it is told. */
const lab = await startMisbehavingProvider()
// The same provider under further names: a user who is known under one of them is known under all.
const providers = { corp, github, google, lab, staff: corp, trusted: lab, guests: lab }
const settings: Environment = {
  SVC_WEBHOOK_URL: webhooks.url,
  SVC_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
  SVC_OAUTH_GOOGLE_ALLOWED_DOMAINS: 'org.example',
  SVC_OAUTH_STAFF_ALLOWED_DOMAINS: 'Staff.Example, staff2.example',
  SVC_OAUTH_TRUSTED_TRUST_EMAIL: 'on',
  SVC_OAUTH_GUESTS_ALLOWED_DOMAINS: 'org.example',
}
const service = await startServiceWith(providers, { env: settings })
const database = await openDatabase(service)

const byCorp =
  (person: OpenIdPerson = newOpenIdPerson()) =>
  (url: string) =>
    corp.visit(url, { person })

const newAgent = (where: Service = service) => createUserAgent(where)

/** A user who signs in with corp, in a new browser. */
const arrive = async (person: OpenIdPerson = newOpenIdPerson(), name = 'corp') => {
  const agent = newAgent()
  return { agent, person, answer: await signInBy(agent, name, byCorp(person)) }
}

/** The same, for a user who is signed in. */
const arrived = async (person?: OpenIdPerson) => {
  const { answer, ...rest } = await arrive(person)
  assertRedirect(answer, '/')
  return { ...rest, user: await currentUser(rest.agent) }
}

const eventsOf = (userId: string) =>
  webhooks.deliveries.filter(({ event }) => event.data.user_id === userId).map(({ event }) => event.type)

/** Resolves once an event about a later user has arrived: the events before it have arrived by then. */
const settled = async () => {
  const { user } = await arrived()
  await webhooks.receivedEvent(({ event }) => event.data.user_id === user.id)
}

const accountsOf = async (email: string) =>
  (await database.rows('SELECT id FROM users WHERE email_lower = ?', email.toLowerCase())).length

const uniqueName = () => randomUUID().slice(0, 8)

describe('a new identity whose email is verified by the provider and unknown to us creates a user', () => {
  test('with the email, a username from the profile and no roles', async () => {
    const name = `Ada_${randomUUID().slice(0, 8)}`
    const { user, person } = await arrived(newOpenIdPerson({ preferred_username: name }))
    const { id, created_at, ...rest } = user
    assert.deepEqual(rest, { email: person.email, username: name.toLowerCase(), roles: [], disabled: false })
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.match(created_at, /Z$/)
  })

  test('`user.created` is sent once, at the first sign-in', async () => {
    const { user, person } = await arrived()
    await arrived(person)
    await settled()
    assert.deepEqual(eventsOf(user.id), ['user.created'])
  })

  test('the email is shown as the provider gave it, and compared in lower case', async () => {
    const { user } = await arrived(newOpenIdPerson({ email: `Ada.${randomUUID()}@Example.COM` }))
    assert.match(user.email, /^Ada\..+@Example\.COM$/)
    const { answer, agent } = await arrive(newOpenIdPerson({ email: user.email.toLowerCase() }))
    assertNoSession(agent, answer, 409)
  })

  const usernames: Record<string, (id: string) => [Record<string, string | undefined>, RegExp | string]> = {
    'accents are taken off': (id) => [{ preferred_username: `José Álvarez ${id}` }, `jose-alvarez-${id}`],
    'an email as preferred_username gives what stands before the @': (id) => [
      { preferred_username: `bob.${id}@corp.example` },
      `bob-${id}`,
    ],
    'other signs become hyphens, none at the ends': (id) => [{ preferred_username: `..x!!${id}??` }, `x-${id}`],
    'too long a name is cut': (id) => [{ preferred_username: `${id}${'a'.repeat(60)}` }, `${id}${'a'.repeat(22)}`],
    'without preferred_username the name is taken': (id) => [
      { preferred_username: undefined, name: `Zoë ${id}` },
      `zoe-${id}`,
    ],
    'from a name of other letters, the email’s local part': (id) => [
      { preferred_username: '日本語', name: '山田', email: `y.${id}@example.com` },
      `y-${id}`,
    ],
    'from a name too short, the email’s local part': (id) => [
      { preferred_username: 'jo', email: `jo.${id}@example.com` },
      `jo-${id}`,
    ],
    'no name at all: the email’s local part': (id) => [
      { preferred_username: undefined, name: undefined, email: `n${id}@example.com` },
      `n${id}`,
    ],
    'an email’s local part too short gets digits': (id) => [
      { preferred_username: '', name: '', email: `a@${id}.example.com` },
      /^a\d{2,}$/,
    ],
    'a name of prototypes is a name': () => [{ preferred_username: 'constructor' }, /^constructor\d*$/],
  }
  for (const [title, make] of Object.entries(usernames)) {
    test(`username from the profile: ${title}`, async () => {
      const [known, username] = make(uniqueName())
      const given = Object.entries({ ...newOpenIdPerson(), ...known }).filter(([, value]) => value !== undefined)
      const person = Object.fromEntries(given) as OpenIdPerson
      const { user } = await arrived(person)
      if (typeof username === 'string') assert.equal(user.username, username)
      else assert.match(user.username, username)
    })
  }

  test('a username that is taken gets digits', async () => {
    const preferred_username = `taken-${uniqueName()}`
    const first = await arrived(newOpenIdPerson({ preferred_username }))
    const second = await arrived(newOpenIdPerson({ preferred_username: preferred_username.toUpperCase() }))
    assert.equal(first.user.username, preferred_username)
    assert.match(second.user.username, new RegExp(`^${preferred_username}\\d{2,}$`))
  })

  test('of GitHub: the login name, and the primary email from the verified-email endpoint', async () => {
    const email = `${uniqueName()}@example.com`
    const login = `Octo-${uniqueName()}`
    const person = newGitHubPerson({
      user: { login, email: 'shown@example.com' },
      emails: [
        { email: `other-${email}`, primary: false, verified: true, visibility: null },
        { email, primary: true, verified: true, visibility: 'private' },
      ],
    })
    const agent = newAgent()
    assertRedirect(await signInBy(agent, 'github', (url) => github.visit(url, { person })), '/')
    const user = await currentUser(agent)
    assert.deepEqual([user.email, user.username], [email, login.toLowerCase()])
  })
})

describe('accounts are identified by issuer and subject, never by email', () => {
  test('another email at the provider: the same user, with their email here', async () => {
    const { user, person } = await arrived()
    const renamed = { ...person, email: `new-${person.email}`, preferred_username: 'another-name', name: 'Another' }
    assert.deepEqual((await arrived(renamed)).user, user)
  })

  test('an email at the provider that belongs to another user here changes nothing for either', async () => {
    const { person: other } = await signedUp(service)
    const { user, person } = await arrived()
    assert.deepEqual((await arrived({ ...person, email: other.email })).user, user)
  })

  test('a known identity gets in with an email unverified, missing or unreadable', async () => {
    const { user, person } = await arrived()
    const { email: _, email_verified: __, ...without } = person
    for (const now of [{ ...person, email_verified: false }, { ...person, email: 'a@b@c.example' }, without]) {
      assert.deepEqual((await arrived(now)).user, user)
    }
  })

  test('the same email with another subject: no session, a page that explains why', async () => {
    const { user, person } = await arrived()
    const { answer, agent } = await arrive({ ...person, sub: randomUUID() })
    assertNoSession(agent, answer, 409)
    assert.match(answer.text, /There is already an account with/)
    assert.equal((await showUser(service, user.id)).email, person.email)
  })

  test('the same subject at another issuer is another user', async () => {
    const { user, person } = await arrived()
    const agent = newAgent()
    const elsewhere = { ...newOpenIdPerson(), sub: person.sub }
    assertRedirect(await signInBy(agent, 'lab', (url) => lab.visit(url, { person: elsewhere })), '/')
    assert.notEqual((await currentUser(agent)).id, user.id)
  })

  test('subjects are compared character by character', async () => {
    const sub = `Sub ${randomUUID()}`
    const variants = [sub, sub.toLowerCase(), `${sub} `, ` ${sub}`, sub.replace(' ', '  '), `${sub}%`, 'x'.repeat(255)]
    const ids = []
    for (const variant of variants) {
      const agent = newAgent()
      const person = newOpenIdPerson({ sub: variant })
      const visit = (url: string) => lab.visit(url, { person })
      assertRedirect(await signInBy(agent, 'lab', visit), '/')
      ids.push((await currentUser(agent)).id)
    }
    assert.equal(new Set(ids).size, variants.length)
  })

  test('one provider under two names is one issuer', async () => {
    const person = newOpenIdPerson({ email: `${randomUUID()}@staff.example` })
    const { user } = await arrived(person)
    const { agent, answer } = await arrive(person, 'staff')
    assertRedirect(answer, '/')
    assert.equal((await currentUser(agent)).id, user.id)
  })
})

const githubEmail = (primary: boolean, verified: boolean): GitHubEmail => ({
  email: `${randomUUID()}@example.com`,
  primary,
  verified,
  visibility: null,
})

describe('an unverified email never matches anything', () => {
  const claims: Record<string, object> = {
    'said to be unverified': { email_verified: false },
    'said to be unverified, as text': { email_verified: 'false' },
    'nothing said': { email_verified: undefined },
    null: { email_verified: null },
    'an empty object': { email_verified: {} },
    'a list': { email_verified: [true] },
    yes: { email_verified: 'yes' },
  }
  for (const [title, changes] of Object.entries(claims)) {
    test(`${title}: it makes no account, and no proof is offered`, async () => {
      const { person: owner } = await signedUp(service)
      for (const email of [`${randomUUID()}@example.com`, owner.email]) {
        const agent = newAgent()
        const person = { ...newOpenIdPerson(), email, ...changes }
        const answer = await signInBy(agent, 'lab', (url) => lab.visit(url, { person }), { return_to: '/kept' })
        assertNoSession(agent, answer, 403)
        assert.doesNotMatch(answer.text, /already an account|name="pending"/)
        assert.match(answer.text, /return_to(?:=%2F|" value="\/)kept"/)
      }
      assert.equal(await accountsOf(owner.email), 1)
    })
  }

  const unusable: Record<string, unknown> = {
    missing: undefined,
    empty: '',
    'several @': 'victim@example.com@evil.example',
    'a display name': 'Victim <victim@example.com>',
    'a list': ['victim@example.com'],
    Unicode: 'vïctim@example.com',
    'without a dot': 'victim@localhost',
    'with a line break': 'a@example.com\nvictim@example.com',
    null: null,
  }
  for (const [title, email] of Object.entries(unusable)) {
    test(`an email that is none (${title}) makes no account`, async () => {
      const agent = newAgent()
      const person = { ...newOpenIdPerson(), email }
      const answer = await signInBy(agent, 'lab', (url) => lab.visit(url, { person }))
      assertNoSession(agent, answer, 403)
      assert.match(answer.text, /gave no email address/)
    })
  }

  const atGithub: Record<string, GitHubEmail[]> = {
    'the primary one is not verified': [githubEmail(true, false)],
    'only another than the primary one is verified': [githubEmail(true, false), githubEmail(false, true)],
    'none is primary': [githubEmail(false, true)],
    'there is none': [],
  }
  for (const [title, emails] of Object.entries(atGithub)) {
    test(`GitHub: ${title}, whatever the profile shows`, async () => {
      const { person: owner } = await signedUp(service)
      const person = newGitHubPerson({ user: { email: owner.email }, emails })
      const agent = newAgent()
      assertNoSession(agent, await signInBy(agent, 'github', (url) => github.visit(url, { person })), 403)
    })
  }

  test('SVC_OAUTH_<NAME>_TRUST_EMAIL: unsaid counts as verified there alone; said to be unverified does not', async () => {
    const { email_verified: _, ...unsaid } = newOpenIdPerson()
    const agent = newAgent()
    assertNoSession(agent, await signInBy(agent, 'lab', (url) => lab.visit(url, { person: unsaid })), 403)
    assertRedirect(await signInBy(agent, 'trusted', (url) => lab.visit(url, { person: unsaid })), '/')
    assert.equal((await currentUser(agent)).email, unsaid.email)
    const other = newAgent()
    for (const email_verified of [false, 'false', null]) {
      const person = { ...newOpenIdPerson(), email_verified }
      assertNoSession(other, await signInBy(other, 'trusted', (url) => lab.visit(url, { person })), 403)
    }
  })
})

const personAt = (domain: string) => newOpenIdPerson({ email: `${randomUUID()}@${domain}` })

/** A user with an email of another domain, for whom the provider sends `hd` as the organisation. */
const visitWithDomain = async (name: 'google' | 'guests', hd: unknown) => {
  const agent = newAgent()
  const { visit } = providers[name]
  const answer = await signInBy(agent, name, (url) => visit(url, { person: { ...newOpenIdPerson(), hd } }))
  return { agent, answer }
}

describe('`SVC_OAUTH_<NAME>_ALLOWED_DOMAINS` restricts by verified email domain or hosted domain', () => {
  for (const domain of ['staff.example', 'STAFF.Example', 'staff2.example']) {
    test(`${domain} is let in`, async () => assertRedirect((await arrive(personAt(domain), 'staff')).answer, '/'))
  }
  for (const domain of ['example.com', 'sub.staff.example', 'xstaff.example', 'staff.example.com', 'example']) {
    test(`${domain} is not`, async () => {
      const { agent, answer } = await arrive(personAt(domain), 'staff')
      assertNoSession(agent, answer, 403)
      assert.match(answer.text, /isn’t let in/)
    })
  }

  test('the page says which email is not, as text; none where the provider said none that could be read', async () => {
    const email = `o'neil&co=+${uniqueName()}@example.com`
    const { answer } = await arrive(newOpenIdPerson({ email }), 'staff')
    assert.ok(
      answer.text.includes(` ${email.replace('&', '&amp;').replace("'", '&#39;')} is not among them`),
      answer.text,
    )
    for (const unreadable of ['<script>alert(1)</script>@example.com', 'a@b@c.example', 'a b@example.com']) {
      const { text, status } = (await arrive(newOpenIdPerson({ email: unreadable }), 'staff')).answer
      assert.equal(status, 403)
      assert.match(text, /yours is not among them/)
      assert.doesNotMatch(text, /alert|a@b|b@example/)
    }
  })

  test('a known user must belong to one of them, too', async () => {
    const person = personAt('staff.example')
    const { answer } = await arrive(person, 'staff')
    assertRedirect(answer, '/')
    const left = await arrive(
      { ...person, email: person.email?.replace('staff.example', 'example.com') ?? '' },
      'staff',
    )
    assertNoSession(left.agent, left.answer, 403)
    const { user } = await arrived()
    const other = await arrive(newOpenIdPerson({ email: user.email }), 'staff')
    assertNoSession(other.agent, other.answer, 403)
    assert.doesNotMatch(other.answer.text, /already an account/)
  })

  test('an email of the domain that is not verified does not help', async () => {
    const person = { ...personAt('staff.example'), email_verified: false }
    const { agent, answer } = await arrive(person, 'staff')
    assertNoSession(agent, answer, 403)
  })

  test('Google’s `hd` does; that of others does not', async () => {
    for (const hd of ['org.example', 'ORG.example']) assertRedirect((await visitWithDomain('google', hd)).answer, '/')
    for (const hd of [undefined, '', 'example.com', 'sub.org.example', ['org.example'], null]) {
      const { agent, answer } = await visitWithDomain('google', hd)
      assertNoSession(agent, answer, 403)
    }
    const { agent, answer } = await visitWithDomain('guests', 'org.example')
    assertNoSession(agent, answer, 403)
  })
})

describe('disabled users stay out', () => {
  test('by a known identity, until they are enabled again', async () => {
    const { user, person, agent } = await arrived()
    await disableUser(service, user.id)
    await assertSignedOut(agent)
    const again = await arrive(person)
    assertNoSession(again.agent, again.answer, 403)
    assert.match(again.answer.text, /disabled/)
    await enableUser(service, user.id)
    assertRedirect((await arrive(person)).answer, '/')
  })

  test('by an email that is theirs: nothing can be proven or taken over', async () => {
    const { person } = await signedUp(service)
    const sealed = newAgent()
    const page = await signInBy(sealed, 'corp', byCorp(newOpenIdPerson({ email: person.email })))
    const pending = pendingOn(page)
    await disableUser(service, person.email)
    const { agent, answer } = await arrive(newOpenIdPerson({ email: person.email }))
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

  test('also who comes back at the same moment', async () => {
    const operator = await openOperator(service)
    for (let round = 0; round < 8; round += 1) {
      const { user, person } = await arrived()
      const agent = newAgent()
      const callback = await byCorp(person)(await startAt(agent, 'corp'))
      const [answer] = await Promise.all([
        returnFromProvider(agent, callback),
        operator.users.setDisabled(user.id, true),
      ])
      assert.ok([303, 403].includes(answer.status), answer.text)
      await assertSignedOut(agent)
    }
  })

  test('also who is at the provider while it happens', async () => {
    const { user, person } = await arrived()
    const agent = newAgent()
    const callback = await byCorp(person)(await startAt(agent, 'corp'))
    await disableUser(service, user.id)
    assertNoSession(agent, await returnFromProvider(agent, callback), 403)
  })
})

describe('a deleted user is forgotten, identities included', () => {
  test('the same person signs up again, as a new user', async () => {
    const { user, person, agent } = await arrived()
    await deleteUser(service, user.id)
    await assertSignedOut(agent)
    assert.deepEqual(await database.rows('SELECT id FROM identities WHERE subject = ?', person.sub), [])
    const { user: second } = await arrived(person)
    assert.notEqual(second.id, user.id)
    assert.deepEqual({ ...second, id: '', created_at: '' }, { ...user, id: '', created_at: '' })
    await settled()
    assert.deepEqual(eventsOf(user.id), ['user.created', 'user.deleted'])
    assert.deepEqual(eventsOf(second.id), ['user.created'])
  })

  test('a user who is deleted while at the provider comes back as a new user', async () => {
    const { user, person } = await arrived()
    const agent = newAgent()
    const callback = await byCorp(person)(await startAt(agent, 'corp'))
    await deleteUser(service, user.id)
    assertRedirect(await returnFromProvider(agent, callback), '/')
    assert.notEqual((await currentUser(agent)).id, user.id)
  })
})

describe('`SVC_SIGNUP=off` holds for providers', () => {
  test('a new user is refused; a known user, or one who proves ownership of an account, is signed in', async (t) => {
    const { person: known, user } = await arrived()
    const closed = await startServiceWith(providers, {
      t,
      cwd: service.directory,
      env: { ...settings, SVC_SIGNUP: 'off' },
    })
    const at = async (person: OpenIdPerson) => {
      const agent = newAgent(closed)
      return { agent, answer: await signInBy(agent, 'corp', byCorp(person), { return_to: '/kept' }) }
    }
    const stranger = newOpenIdPerson()
    const { agent, answer } = await at(stranger)
    assertNoSession(agent, answer, 403)
    assert.match(answer.text, /New accounts aren’t open/)
    assert.equal(await accountsOf(stranger.email ?? ''), 0)

    const back = await at(known)
    assertRedirect(back.answer, '/kept')
    assert.equal((await currentUser(back.agent)).id, user.id)

    const made = newPerson()
    await createUser(service, made)
    const proving = await at(newOpenIdPerson({ email: made.email }))
    assertNoSession(proving.agent, proving.answer, 409)
    const { password } = made
    const form = { pending: pendingOn(proving.answer), password }
    assertRedirect(await proving.agent.post('/auth/oauth/corp/link', form), '/kept')
    assert.equal((await currentUser(proving.agent)).username, made.username)
  })
})

describe('simultaneous sign-ins', () => {
  test('50 people at once each get their own account', async () => {
    const people = Array.from({ length: 50 }, () => newOpenIdPerson({ preferred_username: 'Crowd', name: 'Crowd' }))
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
    const person = newOpenIdPerson()
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
    await settled()
    assert.deepEqual(eventsOf(users[0]?.id ?? ''), ['user.created'])
  })

  test('20 people with one email at once: one gets the account, the others have to prove that it is theirs', async () => {
    const email = `${randomUUID()}@example.com`
    const waiting = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const agent = newAgent()
        return { agent, callback: await byCorp(newOpenIdPerson({ email }))(await startAt(agent, 'corp')) }
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
      const callback = await byCorp(newOpenIdPerson({ email: person.email }))(await startAt(agent, 'corp'))
      const other = newAgent()
      const [byProvider, byPassword] = await Promise.all([returnFromProvider(agent, callback), signUp(other, person)])
      const statuses = statusesOf([byProvider, byPassword])
      assert.deepEqual(statuses, [303, 409])
      await assertSignedIn(byProvider.status === 303 ? agent : other)
      assert.equal(await accountsOf(person.email), 1)
    }
  })
})
