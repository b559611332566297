// Runs on SQLite.
import assert from 'node:assert/strict'
import { pbkdf2Sync, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { hash as argon2 } from '@node-rs/argon2'
import { hash as bcrypt } from '@node-rs/bcrypt'
import { newPerson } from '../../support/client/accounts.ts'
import { assertCanLogIn } from '../../support/client/assertions.ts'
import {
  exportLines,
  importJson,
  importLines,
  type Line,
  problemsOf,
  writeInput,
} from '../../support/service/imports.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_NAMES: 'optional' } })
const GOOGLE = 'https://accounts.google.com'

const exported = async (email: string): Promise<Line> => {
  const line = (await exportLines(service)).find((each) => each.email === email)
  assert.ok(line, `there is no ${email}`)
  return line
}

/** The fields of a user but those that each test checks by itself. */
const shownOf = (line: Line): Line =>
  Object.fromEntries(Object.entries(line).filter(([name]) => !['id', 'password_hash', 'username'].includes(name)))

describe('--from reads what other systems export', () => {
  test('auth0: the export of password hashes, and the bulk export of users', async () => {
    const { email, password, username } = newPerson()
    const hashes = {
      _id: { $oid: '5dea9f9c82dd7c0e76e4ec93' },
      email_verified: true,
      email,
      // Auth0 does so where it knows no name.
      name: email,
      passwordHash: await bcrypt(password, 4),
      password_set_date: { $date: '2019-12-06T18:36:12.412Z' },
      tenant: 'example',
      connection: 'Username-Password-Authentication',
      _tmp_is_unique: true,
    }
    const other = newPerson().email
    const byIdentifier = {
      _id: { $oid: '1' },
      alt_id: 'euclid',
      identifiers: [{ type: 'email', value: other, verified: true }],
    }
    const social = newPerson().email
    const bulk = {
      user_id: 'google-oauth2|103547991597142817347',
      email: social,
      email_verified: true,
      name: 'José Álvarez',
      created_at: '2019-05-06T07:08:09.010Z',
      blocked: true,
      multifactor: ['guardian'],
      identities: [
        { user_id: '103547991597142817347', provider: 'google-oauth2', connection: 'google-oauth2', isSocial: true },
        { user_id: '99', provider: 'facebook', connection: 'facebook', isSocial: true },
      ],
    }
    const lines = [hashes, byIdentifier, bulk].map((each) => JSON.stringify(each)).join('\n')
    const result = await importJson(service, lines, ['--from', 'auth0', '--ids', 'auth0.jsonl'])
    assert.deepEqual([result.imported, result.code], [3, 0], result.stderr)
    assert.deepEqual(result.not_carried_over, {
      'second factors': 1,
      'sign-in with a provider that is not configured here': 1,
    })
    await assertCanLogIn(service, { email, password, username })
    assert.deepEqual([(await exported(other)).email_verified, (await exported(email)).name], [true, undefined])
    assert.deepEqual(shownOf(await exported(social)), {
      email: social,
      name: 'José Álvarez',
      roles: [],
      email_verified: true,
      disabled: true,
      created_at: '2019-05-06T07:08:09.010Z',
      identities: [{ provider: 'google', issuer: GOOGLE, subject: '103547991597142817347' }],
    })
  })

  test('clerk: the file of the dashboard', async () => {
    const { email, password, username } = newPerson()
    const [second, third] = [newPerson().email, newPerson().email]
    const columns =
      'id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,' +
      'unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher'
    const rows = [
      `user_2YDry,Jane,"Doe, ""J""",${username},${email},,${email},,,,ABC,${await bcrypt(password, 4)},bcrypt`,
      `user_2ZZCg,,,,${second},,,${second},,,,,`,
      `user_2Zbad,,,,${third},,${third},,,,,abcdef,md5`,
    ]
    const result = await importJson(service, [columns, ...rows].join('\n'), ['--from', 'clerk'])
    assert.deepEqual([result.imported, result.failed, result.code], [2, 1, 1])
    assert.deepEqual([...problemsOf(result)], [[3, 'password_hash: svc cannot check hashes of "md5".']])
    assert.deepEqual(result.not_carried_over, { 'second factors': 1 })
    await assertCanLogIn(service, { email, password, username })
    const [first, next] = [await exported(email), await exported(second)]
    assert.deepEqual(
      [first.username, first.name, next.email_verified, next.name],
      [username, 'Jane Doe, "J"', false, undefined],
    )
    const others = await importJson(service, [columns, ...rows].join('\n'), ['--from', 'clerk', '--no-hashes'])
    assert.deepEqual(
      [others.imported, others.existing, others.code],
      [1, 2, 0],
      'those with other hashes, without them',
    )
  })

  test('firebase: the example of its scrypt, and the parameters as the console shows them', async () => {
    // github.com/firebase/scrypt, README
    const [email, password] = [newPerson().email, 'user1password']
    const parameters = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}`
    const users = {
      users: [
        {
          localId: 'Vx9oJZ6J1ENAbqTqQ27gORxrrJ92',
          email,
          emailVerified: true,
          passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
          salt: '42xEC+ixf3L2lw==',
          displayName: 'Person',
          lastSignedInAt: '1669754622129',
          createdAt: '1667929188871',
          disabled: false,
          providerUserInfo: [
            { providerId: 'google.com', rawId: '112329738580144281097', email, displayName: 'Person', photoUrl: 'x' },
            { providerId: 'password', rawId: email, email },
          ],
        },
      ],
    }
    const file = JSON.stringify(users, null, 2)
    const without = await importJson(service, file, ['--from', 'firebase'])
    assert.match(problemsOf(without).get(1) ?? '', /need the parameters of the project: --hash-parameters FILE/)
    const config = writeInput(service, 'hash-config.txt', parameters)
    const result = await importJson(service, file, ['--from', 'firebase', '--hash-parameters', config])
    assert.deepEqual([result.imported, result.code], [1, 0], result.stderr)
    await assertCanLogIn(service, { email, password, username: '' })
    assert.deepEqual(shownOf(await exported(email)), {
      email,
      name: 'Person',
      roles: [],
      email_verified: true,
      disabled: false,
      created_at: '2022-11-08T17:39:48.871Z',
      identities: [{ provider: 'google', issuer: GOOGLE, subject: '112329738580144281097', email }],
    })
    const incomplete = writeInput(service, 'no-config.txt', 'rounds: 8')
    const refused = await service.cli(['users', 'import', 'x', '--from', 'firebase', '--hash-parameters', 'absent.txt'])
    assert.match(refused.stderr, /--hash-parameters absent\.txt cannot be read/)
    const half = await service.cli(['users', 'import', '-', '--from', 'firebase', '--hash-parameters', incomplete], {
      input: file,
    })
    assert.match(half.stderr, /--hash-parameters: the file has no mem_cost/)
  })

  test('keycloak: a realm with its users, PBKDF2 and Argon2', async () => {
    const people = [newPerson(), newPerson()]
    const [one, two] = people
    assert.ok(one && two)
    const salt = Buffer.from('a salt of 16 b..')
    const pbkdf2 = pbkdf2Sync(one.password, salt, 1000, 64, 'sha512')
    const phc = await argon2(Buffer.from(two.password), { salt, memoryCost: 64, timeCost: 2, parallelism: 1 })
    const id = randomUUID()
    const realm = {
      realm: 'shop',
      roles: { realm: [{ name: 'editor' }] },
      users: [
        {
          id,
          username: one.username,
          firstName: 'Ada',
          lastName: 'Lovelace',
          email: one.email,
          emailVerified: true,
          enabled: true,
          createdTimestamp: 1557126489010,
          credentials: [
            {
              type: 'password',
              secretData: JSON.stringify({ value: pbkdf2.toString('base64'), salt: salt.toString('base64') }),
              credentialData: JSON.stringify({ hashIterations: 1000, algorithm: 'pbkdf2-sha512' }),
            },
            { type: 'otp', secretData: '{}', credentialData: '{}' },
            { type: 'webauthn-passwordless', secretData: '{}', credentialData: '{}' },
          ],
          realmRoles: ['default-roles-shop', 'editor', 'View Reports', 'offline_access'],
          federatedIdentities: [
            { identityProvider: 'google', userId: `g-${id}`, userName: 'x' },
            { identityProvider: 'our-saml', userId: '1', userName: 'x' },
          ],
        },
        {
          id: randomUUID(),
          username: two.email,
          // svc does not accept such a name.
          firstName: 'A\u202edA',
          email: two.email,
          enabled: false,
          credentials: [
            {
              type: 'password',
              secretData: JSON.stringify({ value: phc.split('$').at(-1), salt: salt.toString('base64') }),
              credentialData: JSON.stringify({
                hashIterations: 2,
                algorithm: 'argon2',
                additionalParameters: {
                  hashLength: ['32'],
                  memory: ['64'],
                  type: ['id'],
                  version: ['1.3'],
                  parallelism: ['1'],
                },
              }),
            },
          ],
        },
        { id: randomUUID(), username: 'service-account-shop', enabled: true, serviceAccountClientId: 'shop' },
      ],
      clients: [{ users: [{}] }],
    }
    const result = await importJson(service, JSON.stringify(realm, null, 2), ['--from', 'keycloak'])
    assert.deepEqual([result.imported, result.skipped, result.code], [2, 1, 0], result.stderr)
    assert.deepEqual(result.not_carried_over, {
      'second factors': 1,
      passkeys: 1,
      roles: 1,
      names: 1,
      'sign-in with a provider that is not configured here': 1,
    })
    const user = await exported(one.email)
    assert.deepEqual(
      [user.id, user.username, user.name, user.roles, user.created_at],
      [id, one.username, 'Ada Lovelace', ['editor'], '2019-05-06T07:08:09.010Z'],
    )
    assert.deepEqual(user.identities, [{ provider: 'google', issuer: GOOGLE, subject: `g-${id}` }])
    await assertCanLogIn(service, one)
    assert.equal((await exported(two.email)).disabled, true)
    await service.cli(['users', 'enable', two.email])
    await assertCanLogIn(service, two)
  })

  test('kratos: identities of the admin API', async () => {
    const people = [newPerson(), newPerson()]
    const [one, two] = people
    assert.ok(one && two)
    const id = randomUUID()
    const identity = {
      id,
      schema_id: 'default',
      state: 'active',
      traits: { email: one.email, username: one.username, name: { first: 'Ada' } },
      verifiable_addresses: [{ id: randomUUID(), value: one.email, verified: true, via: 'email', status: 'completed' }],
      credentials: {
        password: {
          type: 'password',
          identifiers: [one.email],
          config: { hashed_password: await bcrypt(one.password, 4) },
        },
        oidc: { type: 'oidc', config: { providers: [{ subject: `k-${id}`, provider: 'google' }] } },
        totp: { type: 'totp', identifiers: [id] },
      },
      created_at: '2023-12-20T07:20:43.512549Z',
      metadata_public: null,
    }
    const argon = await argon2(Buffer.from(two.password), { memoryCost: 64, timeCost: 1, parallelism: 1 })
    const other = {
      id: randomUUID(),
      state: 'inactive',
      traits: { contact: 'x' },
      verifiable_addresses: [{ value: two.email, verified: false, via: 'email' }],
      credentials: { password: { config: { hashed_password: argon } } },
    }
    const oneByOne = [identity, other].map((each) => JSON.stringify(each, null, 2)).join('\n')
    const array = await importJson(service, JSON.stringify([identity, other]), ['--from', 'kratos', '--dry-run'])
    assert.equal(array.imported, 2)
    const result = await importJson(service, oneByOne, ['--from', 'kratos'])
    assert.deepEqual([result.imported, result.code], [2, 0], result.stderr)
    assert.deepEqual(result.not_carried_over, { 'second factors': 1 })
    await assertCanLogIn(service, one)
    const user = await exported(one.email)
    assert.deepEqual(
      [user.id, user.name, user.created_at, user.email_verified],
      [id, 'Ada', '2023-12-20T07:20:43.512Z', true],
    )
    assert.deepEqual(user.identities, [{ provider: 'google', issuer: GOOGLE, subject: `k-${id}` }])
    assert.equal((await exported(two.email)).disabled, true)
  })

  test('an unknown system, and a file of another kind', async () => {
    const realm = await importLines(service, '{"realm":"shop","clients":[{}]}', ['--from', 'keycloak'])
    assert.deepEqual([realm.code, realm.stdout], [1, ''])
    assert.match(realm.stderr, /has no users in the form in which keycloak exports them/)
    const unknown = await service.cli(['users', 'import', 'x', '--from', 'okta'])
    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /auth0, clerk, firebase, keycloak, kratos/)
  })
})
