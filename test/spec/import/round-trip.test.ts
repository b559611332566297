// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { exportLines, importJson, type Line } from '../../support/service/imports.ts'
import { startService } from '../../support/service/service.ts'

const text = (characters: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength })

const SMALL = 'abcdefghij0123456789'
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const identity = fc.record({
  provider: fc.constantFrom('google', 'corp', 'my-corp_2'),
  issuer: fc.constantFrom('https://accounts.google.com', 'https://corp.example/v2.0', 'urn:corp'),
  subject: text(` !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~${BASE64}`, 1, 255),
})

const passwordHash = fc.oneof(
  text(`${BASE64}./`, 53, 53).map((rest) => `$2b$10$${rest.replace(/^(.{21})./, '$1u').replace(/.$/, 'i')}`),
  text('0123456789abcdef', 160, 160).map((hex) => `${hex.slice(0, 32)}:${hex.slice(32)}`),
  fc.constant('$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQtc29tZXNhbHQ$7I2tYHUbYRFoCpmbNnz1vdWbaq2zqnwqmOWdISF6m1E'),
)

const user = fc.record(
  {
    id: fc.uuid(),
    email: fc
      .tuple(text(`${BASE64}!#$%&'*+/=?^_{|}~-`, 1, 60), text(SMALL, 1, 20))
      .map(([a, b]) => `${a}@${b}.Example`),
    username: text(`${SMALL}_-`, 3, 30),
    roles: fc.uniqueArray(text(`${SMALL}_:.-`, 1, 64), { maxLength: 8 }),
    email_verified: fc.boolean(),
    disabled: fc.boolean(),
    created_at: fc.date({ min: new Date(0), max: new Date(), noInvalidDate: true }).map((date) => date.toISOString()),
    password_hash: passwordHash,
    identities: fc.array(identity, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['id', 'email', 'username', 'roles', 'email_verified', 'disabled', 'created_at'] },
)

const keysOf = ({ id, email, username, identities = [] }: Line & { identities?: Line[] }): string[] => [
  `id ${String(id)}`,
  `email ${String(email).toLowerCase()}`,
  `username ${String(username)}`,
  ...identities.map(({ issuer, subject }) => `identity ${JSON.stringify([issuer, subject])}`),
]

/** Without users who have something in common with an earlier one. */
const differing = (users: Line[]): Line[] => {
  const taken = new Set<string>()
  return users.filter((each) => {
    const keys = keysOf(each)
    if (new Set(keys).size < keys.length || keys.some((key) => taken.has(key))) return false
    for (const key of keys) taken.add(key)
    return true
  })
}

const byId = (a: Line, b: Line) => (String(a.id) < String(b.id) ? -1 : 1)

test('§8.4 what one installation exports, an empty one imports: the same accounts', async () => {
  const users = differing(JSON.parse(JSON.stringify(fc.sample(user, { numRuns: 700, seed: 13 }))) as Line[])
  assert.ok(users.length > 600, String(users.length))
  const [first, second] = [await startService(), await startService()]

  const there = await importJson(first, users)
  assert.deepEqual([there.imported, there.failed, there.code], [users.length, 0, 0], there.stderr)
  const exported = await exportLines(first)
  assert.deepEqual(exported, users.toSorted(byId), 'as they were given')

  const { stdout } = await first.cli(['users', 'export'])
  const result = await second.cli(['users', 'import', '-', '--all-or-nothing'], { input: stdout })
  assert.equal(result.code, 0, result.stderr)
  assert.equal((await second.cli(['users', 'export'])).stdout, stdout)
})
