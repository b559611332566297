// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { type GitHubEmail, newGitHubPerson } from '../../support/provider/github-server.ts'
import { type OpenIdUser, newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { reclaim } from '../../support/provider/provider-accounts.ts'
import { assertNoSession, pendingOn } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { startSignupService } from '../../support/provider/provider-signups.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { setRoles, showUser } from '../../support/service/operator-commands.ts'

const {
  github,
  lab,
  service,
  newAgent,
  signInByCorp,
  userOfCorp,
  byCorp,
  eventsOf,
  updatesOf,
  receiveEvents,
  countAccounts,
} = await startSignupService()

/** The claim `email_verified` of a session that corp has started. */
const verifiedAfter = async (person: OpenIdUser) => {
  const { agent, answer } = await signInByCorp(person)
  assertRedirect(answer, '/')
  return claimsOf(accessToken(agent)).email_verified
}

const uniqueName = () => randomUUID().slice(0, 8)

describe('a new identity whose email is verified by the provider and unknown to us creates a user', () => {
  test('with the email, a username from the profile and no roles', async () => {
    const name = `Ada_${randomUUID().slice(0, 8)}`
    const { user, person } = await userOfCorp(newOpenIdUser({ preferred_username: name }))
    const { id, created_at, ...rest } = user
    assert.deepEqual(rest, { email: person.email, username: name.toLowerCase(), roles: [], disabled: false })
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.match(created_at, /Z$/)
  })

  test('`user.created` is sent once, at the first sign-in', async () => {
    const { user, person } = await userOfCorp()
    await userOfCorp(person)
    await receiveEvents()
    assert.deepEqual(eventsOf(user.id), ['user.created'])
  })

  test('§6.1 user.updated: a provider verifies an email; once, and not by another email', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const connect = (email: string) => signInBy(agent, 'corp', byCorp(newOpenIdUser({ email })), { intent: 'link' })
    for (const email of [newOpenIdUser().email ?? '', person.email, person.email])
      assertRedirect(await connect(email), '/auth/account?done=linked')
    await receiveEvents()
    assert.deepEqual(updatesOf(id), [['email_verified']])
  })

  test('a provider that is connected already verifies the email at the next sign-in, and no other one', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const employee = newOpenIdUser({ email: person.email, email_verified: false })
    assertRedirect(await signInBy(agent, 'corp', byCorp(employee), { intent: 'link' }), '/auth/account?done=linked')
    assert.equal(await verifiedAfter(employee), false)
    assert.equal(await verifiedAfter({ ...employee, email: newOpenIdUser().email ?? '', email_verified: true }), false)
    assert.equal(await verifiedAfter({ ...employee, email_verified: true }), true)
    assert.equal(await verifiedAfter(employee), true)
    await receiveEvents()
    assert.deepEqual(updatesOf(id), [['email_verified']])
  })

  test('§3.1 email_verified is true in the next access token of the session that connects the provider', async () => {
    const { agent, person } = await signedUp(service)
    const isVerified = () => claimsOf(accessToken(agent)).email_verified
    assert.equal(isVerified(), false)
    await signInBy(agent, 'corp', byCorp(newOpenIdUser({ email: person.email })), { intent: 'link' })
    assert.equal((await agent.refresh()).status, 200)
    assert.equal(isVerified(), true)
  })

  test('§6.1 user.updated: the owner of an email takes over an account, which loses its roles', async () => {
    const { agent: attacker, person } = await signedUp(service)
    const { id } = await currentUser(attacker)
    await setRoles(service, id, ['admin'])
    const { agent, answer } = await signInByCorp(newOpenIdUser({ email: person.email }))
    assertRedirect(await reclaim(agent, pendingOn(answer)), '/')
    await receiveEvents()
    assert.deepEqual(updatesOf(id), [['roles'], ['roles', 'email_verified']])
  })

  test('the email is shown as the provider gave it, and compared in lower case', async () => {
    const { user } = await userOfCorp(newOpenIdUser({ email: `Ada.${randomUUID()}@Example.COM` }))
    assert.match(user.email, /^Ada\..+@Example\.COM$/)
    const { answer, agent } = await signInByCorp(newOpenIdUser({ email: user.email.toLowerCase() }))
    assertNoSession(agent, answer, 409)
  })

  const usernames: Record<string, (id: string) => [Record<string, string | undefined>, RegExp | string]> = {
    'accents are taken off': (id) => [{ preferred_username: `José Álvarez ${id}` }, `jose-alvarez-${id}`],
    'an email as preferred_username gives what stands before the @': (id) => [
      { preferred_username: `bob.${id}@corp.example` },
      `bob-${id}`,
    ],
    'other signs become hyphens, none at the ends': (id) => [{ preferred_username: `..x!!${id}??` }, `x-${id}`],
    'a name that is too long is cut': (id) => [
      { preferred_username: `${id}${'a'.repeat(60)}` },
      `${id}${'a'.repeat(22)}`,
    ],
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
      const given = Object.entries({ ...newOpenIdUser(), ...known }).filter(([, value]) => value !== undefined)
      const person = Object.fromEntries(given) as OpenIdUser
      const { user } = await userOfCorp(person)
      if (typeof username === 'string') assert.equal(user.username, username)
      else assert.match(user.username, username)
    })
  }

  test('a username that is taken gets digits', async () => {
    const preferred_username = `taken-${uniqueName()}`
    const first = await userOfCorp(newOpenIdUser({ preferred_username }))
    const second = await userOfCorp(newOpenIdUser({ preferred_username: preferred_username.toUpperCase() }))
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
    const { user, person } = await userOfCorp()
    const renamed = { ...person, email: `new-${person.email}`, preferred_username: 'another-name', name: 'Another' }
    assert.deepEqual((await userOfCorp(renamed)).user, user)
  })

  test('an email at the provider that belongs to another user here changes nothing for either', async () => {
    const { person: other } = await signedUp(service)
    const { user, person } = await userOfCorp()
    assert.deepEqual((await userOfCorp({ ...person, email: other.email })).user, user)
  })

  test('a known identity signs in with an email unverified, missing or invalid', async () => {
    const { user, person } = await userOfCorp()
    const { email: _, email_verified: __, ...without } = person
    for (const now of [{ ...person, email_verified: false }, { ...person, email: 'a@b@c.example' }, without]) {
      assert.deepEqual((await userOfCorp(now)).user, user)
    }
  })

  test('the same email with another subject: no session, a page that explains why', async () => {
    const { user, person } = await userOfCorp()
    const { answer, agent } = await signInByCorp({ ...person, sub: randomUUID() })
    assertNoSession(agent, answer, 409)
    assert.match(answer.text, /already has an account\./)
    assert.equal((await showUser(service, user.id)).email, person.email)
  })

  test('the same subject at another issuer is another user', async () => {
    const { user, person } = await userOfCorp()
    const agent = newAgent()
    const elsewhere = { ...newOpenIdUser(), sub: person.sub }
    assertRedirect(await signInBy(agent, 'lab', (url) => lab.visit(url, { person: elsewhere })), '/')
    assert.notEqual((await currentUser(agent)).id, user.id)
  })

  test('subjects are compared character by character', async () => {
    const sub = `Sub ${randomUUID()}`
    const variants = [sub, sub.toLowerCase(), `${sub} `, ` ${sub}`, sub.replace(' ', '  '), `${sub}%`, 'x'.repeat(255)]
    const ids = []
    for (const variant of variants) {
      const agent = newAgent()
      const person = newOpenIdUser({ sub: variant })
      const visit = (url: string) => lab.visit(url, { person })
      assertRedirect(await signInBy(agent, 'lab', visit), '/')
      ids.push((await currentUser(agent)).id)
    }
    assert.equal(new Set(ids).size, variants.length)
  })

  test('one provider under two names is one issuer', async () => {
    const person = newOpenIdUser({ email: `${randomUUID()}@staff.example` })
    const { user } = await userOfCorp(person)
    const { agent, answer } = await signInByCorp(person, 'staff')
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
    'not stated': { email_verified: undefined },
    null: { email_verified: null },
    'an empty object': { email_verified: {} },
    'a list': { email_verified: [true] },
    yes: { email_verified: 'yes' },
  }
  for (const [title, changes] of Object.entries(claims)) {
    test(`${title}: no account is created, and none is offered to link`, async () => {
      const { person: owner } = await signedUp(service)
      for (const email of [`${randomUUID()}@example.com`, owner.email]) {
        const agent = newAgent()
        const person = { ...newOpenIdUser(), email, ...changes }
        const answer = await signInBy(agent, 'lab', (url) => lab.visit(url, { person }), { return_to: '/kept' })
        assertNoSession(agent, answer, 403)
        assert.doesNotMatch(answer.text, /already an account|name="pending"/)
        assert.match(answer.text, /return_to(?:=%2F|" value="\/)kept"/)
      }
      assert.equal(await countAccounts(owner.email), 1)
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
    test(`an invalid email (${title}) creates no account`, async () => {
      const agent = newAgent()
      const person = { ...newOpenIdUser(), email }
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

  test('SVC_OAUTH_<NAME>_TRUST_EMAIL: an email that is not stated to be verified counts there alone; one stated to be unverified does not', async () => {
    const { email_verified: _, ...unsaid } = newOpenIdUser()
    const agent = newAgent()
    assertNoSession(agent, await signInBy(agent, 'lab', (url) => lab.visit(url, { person: unsaid })), 403)
    assertRedirect(await signInBy(agent, 'trusted', (url) => lab.visit(url, { person: unsaid })), '/')
    assert.equal((await currentUser(agent)).email, unsaid.email)
    const other = newAgent()
    for (const email_verified of [false, 'false', null]) {
      const person = { ...newOpenIdUser(), email_verified }
      assertNoSession(other, await signInBy(other, 'trusted', (url) => lab.visit(url, { person })), 403)
    }
  })
})
