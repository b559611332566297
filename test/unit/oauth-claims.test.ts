// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { readClaims, requireAllowedDomain, requireVerifiedEmail } from '../../src/oauth/providers/profile.ts'
import { describeDiscord } from '../../src/oauth/providers/create-provider.ts'
import { describeGithub } from '../../src/oauth/providers/github.ts'
import type { ProviderKind, ProviderSettings } from '../../src/oauth/providers/presets.ts'

const ISSUER = 'https://id.corp.example'

const settingsOf = (kind: ProviderKind, given: Partial<ProviderSettings> = {}): ProviderSettings => ({
  name: 'corp',
  kind,
  label: 'Corp',
  iconUrl: undefined,
  clientId: 'svc',
  clientSecret: 'secret',
  issuer: ISSUER,
  scopes: [],
  allowedDomains: [],
  trustsEmail: false,
  secondFactor: 'ask',
  apple: undefined,
  ...given,
})

const read = (claims: object, kind: ProviderKind = 'openid', given: Partial<ProviderSettings> = {}) =>
  readClaims({ sub: 's', email: 'Ann@Example.com', ...claims }, ISSUER, settingsOf(kind, given))

const reasonOf = (action: () => unknown): string | undefined => {
  try {
    action()
  } catch (error) {
    return error instanceof AppError ? error.reason : assert.fail(String(error))
  }
  return undefined
}

test('the profile that is read from claims', () => {
  const claims = { email_verified: true, preferred_username: 'ann', hd: 'Example.com', picture: 'x', iss: 'y' }
  assert.deepEqual(read(claims, 'google'), {
    provider: 'corp',
    issuer: ISSUER,
    subject: 's',
    email: { shown: 'Ann@Example.com', lower: 'ann@example.com' },
    emailVerified: true,
    hostedDomain: 'example.com',
    name: 'ann',
    fullName: undefined,
    signedInAtMs: undefined,
  })
})

test('the name of the person: a text of at most 200 characters, and not the text that a username is made from', () => {
  assert.deepEqual(
    [read({ name: 'Ann Other', nickname: 'ann' })].map(({ name, fullName }) => [name, fullName]),
    [['ann', 'Ann Other']],
  )
  for (const name of [undefined, null, '', 7, true, ['Ann'], { first: 'Ann' }, 'x'.repeat(201)])
    assert.equal(read({ name }).fullName, undefined, JSON.stringify(name))
})

test('the time of the sign-in there: in seconds, and unknown if it is not a number', () => {
  assert.equal(read({ auth_time: 1_795_000_000 }).signedInAtMs, 1_795_000_000_000)
  assert.equal(read({ auth_time: 0 }).signedInAtMs, 0)
  for (const auth_time of [undefined, null, '1795000000', '', true, [1_795_000_000], { valueOf: 1 }]) {
    assert.equal(read({ auth_time }).signedInAtMs, undefined, JSON.stringify(auth_time))
  }
})

test('the time of the sign-in there, if it is not a whole number of seconds: whole milliseconds, as times are stored', () => {
  for (const auth_time of [1_795_000_000.5, 1_795_000_000.123_456_7, 0.1]) {
    const { signedInAtMs } = read({ auth_time })
    assert.ok(signedInAtMs === undefined || Number.isSafeInteger(signedInAtMs), `${auth_time}: ${signedInAtMs}`)
  }
})

describe('a subject is 1 to 255 characters of ASCII (OpenID Connect Core section 2)', () => {
  for (const sub of ['s', 'x'.repeat(255), 'a b|c', '~!@#$%^&*()']) {
    test(`${sub.slice(0, 20)} is one`, () => assert.equal(read({ sub }).subject, sub))
  }
  for (const sub of [undefined, null, '', 0, 4711, true, {}, ['s'], 'x'.repeat(256), 'é', 's\n', 's\0', '\u007f']) {
    test(`${JSON.stringify(sub)?.slice(0, 20)} is none`, () =>
      assert.equal(
        reasonOf(() => read({ sub })),
        'unverifiable',
      ))
  }
})

describe('whether the email is verified, by kind', () => {
  const always = { email_verified: true }
  const cases: [ProviderKind, object, boolean][] = [
    ...(['openid', 'google', 'github', 'apple', 'gitlab', 'discord'] as const).flatMap(
      (kind): [ProviderKind, object, boolean][] => [
        [kind, always, true],
        [kind, { email_verified: 'true' }, true],
        [kind, { email_verified: false }, false],
        [kind, { email_verified: 'false' }, false],
        [kind, {}, false],
        [kind, { xms_edov: true, verified_primary_email: ['ann@example.com'] }, false],
      ],
    ),
    ['openid', { email_verified: 1 }, true],
    ['openid', { email_verified: '1' }, true],
    ...[0, 2, -1, '0', 'TRUE', 'yes', '', null, {}, [], [true], ['true']].map(
      (email_verified): [ProviderKind, object, boolean] => ['openid', { email_verified }, false],
    ),
    ['openid', { ...always, email: 'a@b@example.com' }, false],
    ['openid', { ...always, email: ['ann@example.com'] }, false],
    ['microsoft', {}, false],
    ['microsoft', always, false],
    ['microsoft', { email_verified: 'true' }, false],
    ['microsoft', { xms_edov: true }, true],
    ['microsoft', { xms_edov: '1' }, true],
    ['microsoft', { xms_edov: 1 }, true],
    ['microsoft', { xms_edov: false, ...always }, false],
    ['microsoft', { xms_edov: '0' }, false],
    ['microsoft', { verified_primary_email: ['ANN@example.com'] }, true],
    ['microsoft', { verified_primary_email: ['other@example.com', 'ann@example.com'] }, true],
    ['microsoft', { verified_primary_email: ['other@example.com'] }, false],
    ['microsoft', { verified_primary_email: 'ann@example.com' }, false],
    ['microsoft', { verified_primary_email: [{ email: 'ann@example.com' }, null] }, false],
    ['microsoft', { verified_secondary_email: ['ann@example.com'] }, false],
    ['microsoft', { xms_edov: true, email: 'none' }, false],
  ]
  for (const [kind, claims, expected] of cases) {
    test(`${kind} ${JSON.stringify(claims)}: ${expected}`, () =>
      assert.equal(read(claims, kind).emailVerified, expected))
  }

  test('with trustsEmail, an email that is not stated to be verified counts; one stated to be unverified does not', () => {
    for (const kind of ['openid', 'gitlab', 'microsoft'] as const) {
      assert.equal(read({}, kind, { trustsEmail: true }).emailVerified, true, kind)
      assert.equal(read({ email_verified: false }, kind, { trustsEmail: true }).emailVerified, false, kind)
      assert.equal(read({ email_verified: null }, kind, { trustsEmail: true }).emailVerified, false, kind)
      assert.equal(read({ email: 'none' }, kind, { trustsEmail: true }).emailVerified, false, kind)
    }
  })
})

const emailProblem = (claims: object) => reasonOf(() => requireVerifiedEmail(read(claims)))

describe('an email that must be verified', () => {
  test('is missing or invalid', () => {
    for (const email of [undefined, null, '', 'x', 'a@b@c.example', 4711, {}, ['ann@example.com'], 'a@localhost']) {
      assert.equal(emailProblem({ email, email_verified: true }), 'email_missing', JSON.stringify(email))
    }
  })
  test('is unverified, or verified', () => {
    assert.equal(emailProblem({ email_verified: false }), 'email_unverified')
    assert.equal(emailProblem({ email_verified: true }), undefined)
  })
})

const isLetIn = (claims: object, kind: ProviderKind = 'openid', allowedDomains = ['example.com', 'b.example']) =>
  reasonOf(() => requireAllowedDomain(read(claims, kind, { allowedDomains }), settingsOf(kind, { allowedDomains }))) ===
  undefined

const verified = (email: string) => ({ email, email_verified: true })

describe('allowed domains', () => {
  const cases: [string, boolean][] = [
    ['a@example.com', true],
    ['A@EXAMPLE.com', true],
    ['a@b.example', true],
    ['a@sub.example.com', false],
    ['a@xexample.com', false],
    ['a@example.com.evil.example', false],
    ['example.com@evil.example', false],
    ['a@example.org', false],
    ['a@example.com@evil.example', false],
  ]
  for (const [email, expected] of cases) {
    test(`${email}: ${expected}`, () => assert.equal(isLetIn(verified(email)), expected))
  }

  test('an unverified or missing email does not count', () => {
    assert.equal(isLetIn({ email: 'a@example.com', email_verified: false }), false)
    assert.equal(isLetIn({ email: undefined }), false)
    assert.equal(isLetIn({ email: '', hd: '' }, 'google'), false)
  })

  test('the hosted domain counts at Google only', () => {
    const elsewhere = { ...verified('a@gmail.com'), hd: 'Example.com' }
    assert.equal(isLetIn(elsewhere, 'google'), true)
    for (const kind of ['openid', 'gitlab', 'microsoft', 'github'] as const)
      assert.equal(isLetIn(elsewhere, kind), false)
    for (const hd of ['sub.example.com', '', ['example.com'], true, null]) {
      assert.equal(isLetIn({ ...elsewhere, hd }, 'google'), false)
    }
  })

  test('without allowed domains, every user is allowed', () =>
    assert.equal(isLetIn({ email: undefined }, 'openid', []), true))
})

describe('the name of a user, for a username', () => {
  const cases: [object, string][] = [
    [{ preferred_username: 'ann', nickname: 'annie', name: 'Ann B' }, 'ann'],
    [{ preferred_username: ' ', nickname: 'annie', name: 'Ann B' }, 'annie'],
    [{ preferred_username: 4711, nickname: ['x'], name: 'Ann B' }, 'Ann B'],
    [{ name: { first: 'Ann' } }, ''],
    [{}, ''],
    [{ name: 'x'.repeat(10_000) }, 'x'.repeat(200)],
  ]
  for (const [claims, name] of cases) {
    test(JSON.stringify(claims).slice(0, 60), () => assert.equal(read(claims).name, name))
  }
})

const identifyAtGithub = (user: unknown, emails: unknown, issuer = 'https://github.com') => {
  const requested: string[] = []
  const claims = describeGithub(issuer).fetchClaims(async (url) => {
    requested.push(url)
    return new URL(url).pathname.endsWith('/emails') ? emails : user
  })
  return { claims, requested }
}

describe('claims of GitHub', () => {
  const user = { id: 4711, login: 'octo', name: 'Octo Cat', email: 'shown@example.com' }

  test('the numeric id, the login, the primary email', async () => {
    const { claims, requested } = identifyAtGithub(user, [
      { email: 'first@example.com', primary: false, verified: true },
      { email: 'octo@example.com', primary: true, verified: true },
    ])
    assert.deepEqual(await claims, {
      sub: '4711',
      preferred_username: 'octo',
      name: 'Octo Cat',
      email: 'octo@example.com',
      email_verified: true,
    })
    assert.deepEqual(requested, ['https://api.github.com/user', 'https://api.github.com/user/emails?per_page=100'])
  })

  test('an Enterprise Server has its API below its own address', async () => {
    const { claims, requested } = identifyAtGithub(user, [], 'https://git.corp.example')
    await claims
    assert.equal(requested[0], 'https://git.corp.example/api/v3/user')
  })

  test('without a primary email, or without a list, there is no email', async () => {
    for (const emails of [[], null, {}, 'x', [null], [{ email: 'a@example.com', primary: 'true', verified: true }]]) {
      assert.equal((await identifyAtGithub(user, emails).claims).email, undefined)
    }
  })

  test('without a numeric id the profile is refused', async () => {
    for (const id of [undefined, null, '4711', 4711.5, 2 ** 60, Number.NaN]) {
      await assert.rejects(identifyAtGithub({ ...user, id }, []).claims, { reason: 'unverifiable' })
    }
    for (const none of [null, [], 'x', 4711]) {
      await assert.rejects(identifyAtGithub(none, []).claims, { reason: 'unverifiable' })
    }
  })
})

const claimsOfDiscord = (user: unknown) => describeDiscord('https://discord.com').fetchClaims(async () => user)

test('claims of Discord: an email that is not verified does not count', async () => {
  const user = { id: '80351110224678912', username: 'nelly', email: 'n@example.com', verified: true }
  const known = await claimsOfDiscord(user)
  assert.equal(read(known, 'discord').subject, user.id)
  assert.equal(read(known, 'discord').name, 'nelly')
  assert.equal(read(known, 'discord').emailVerified, true)
  assert.equal(read(await claimsOfDiscord({ ...user, verified: false }), 'discord').emailVerified, false)
  for (const none of [null, [], {}, 'x', { ...user, id: 1 }]) {
    const told = await claimsOfDiscord(none)
    assert.equal(
      reasonOf(() => readClaims(told, ISSUER, settingsOf('discord'))),
      'unverifiable',
    )
  }
})
