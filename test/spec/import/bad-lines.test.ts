// Runs on SQLite.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { exportLines, importJson, importLines, problemsOf, writeInput } from '../../support/service/imports.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const BCRYPT = '$2b$04$U4C0ZY8OG8y41F9LusfKyu3HRMBL0rCZcKBVsXhgr.n8Ou6FPhzO2'
const GOOGLE = 'https://accounts.google.com'

/** Each line with what is said about it. */
const BAD: readonly (readonly [line: object | string, problem: RegExp])[] = [
  ['{broken', /not valid JSON/],
  ['[{"email":"array@example.com"}]', /A user is a JSON object/],
  ['null', /A user is a JSON object/],
  ['"text"', /A user is a JSON object/],
  [{}, /^email: Enter an email address/],
  [{ email: 5 }, /^email: It must be a string/],
  [{ email: 'a@b' }, /^email: Enter an email address such as/],
  [{ email: 'nul\0@example.com' }, /^email: /],
  [{ email: 'x@example.com', passkeys: '1' }, /^passkeys: It must be a number from 0/],
  [{ email: 'x@example.com', second_factors: 'totp' }, /^second_factors: It must be an array of strings/],
  [{ email: 'x@example.com', emial: 'y' }, /^emial: There is no such field\. A user has id, email, /],
  ['{"email":"x@example.com","__proto__":{"roles":["admin"]}}', /^__proto__: There is no such field/],
  ['{"email":"x@example.com","roles":["user"],"roles":["admin"]}', /^roles: it is there more than once$/],
  ['{"email":"x@example.com", "\\u0065mail" : "y@example.com"}', /^email: it is there more than once$/],
  [
    `{"email":"x@example.com","identities":[{"provider":"google","issuer":"${GOOGLE}","subject":"1","subject":"2"}]}`,
    /^subject: it is there more than once$/,
  ],
  ['{"email":"x@example.com","disabled":true,"disabled":null}', /^disabled: it is there more than once$/],
  ['{"email":"x@example.com","a\\u001b":1,"a\\u001b":1}', /^a\?: it is there more than once$/],
  [{ email: 'x@example.com', id: 7 }, /^id: It must be a string/],
  [{ email: 'x@example.com', id: '' }, /^id: An id has 1 to 255 characters/],
  [{ email: 'x@example.com', id: 'a\0b' }, /^id: .*no control characters/],
  [{ email: 'x@example.com', username: 'a b' }, /^username: A username has 3 to 30/],
  [{ email: 'x@example.com', roles: 'admin' }, /^roles: It must be an array of strings/],
  [{ email: 'x@example.com', roles: ['A b\u001b[2J'] }, /^roles: "A b\?\[2J" is no role/],
  [{ email: 'x@example.com', email_verified: 'true' }, /^email_verified: It must be true or false/],
  [{ email: 'x@example.com', disabled: 0 }, /^disabled: It must be true or false/],
  [{ email: 'x@example.com', password: 'short' }, /^password: A password has at least 8/],
  [{ email: 'x@example.com', password_hash: 'md5' }, /^password_hash: .*Argon2/],
  [
    { email: 'x@example.com', password_hash: '$2b$31$U4C0ZY8OG8y41F9LusfKyu3HRMBL0rCZcKBVsXhgr.n8Ou6FPhzO2' },
    /^password_hash: /,
  ],
  [
    { email: 'x@example.com', password: 'long enough to be one', password_hash: BCRYPT },
    /^password_hash: Give password or/,
  ],
  [{ email: 'x@example.com', created_at: '2020-01-01' }, /^created_at: A time is written like/],
  [{ email: 'x@example.com', created_at: '2020-01-01T00:00:00' }, /^created_at: /],
  [{ email: 'x@example.com', created_at: '2999-01-01T00:00:00Z' }, /^created_at: .*not in the future/],
  [{ email: 'x@example.com', created_at: '2020-13-01T00:00:00Z' }, /^created_at: /],
  [{ email: 'x@example.com', created_at: 1600000000000 }, /^created_at: It must be a string/],
  [{ email: 'x@example.com', identities: {} }, /^identities: It must be an array/],
  [{ email: 'x@example.com', identities: ['google'] }, /^identities\[0\]: It must be an object/],
  [
    { email: 'x@example.com', identities: [{ provider: 'google', subject: '1' }] },
    /^identities\[0\]\.issuer: .*left out only/,
  ],
  [{ email: 'x@example.com', identities: [{ provider: 'google', issuer: GOOGLE }] }, /^identities\[0\]\.subject: /],
  [
    { email: 'x@example.com', identities: [{ provider: 'google', issuer: GOOGLE, subject: 1 }] },
    /subject: It must be a string/,
  ],
  [
    { email: 'x@example.com', identities: [{ provider: 'google', issuer: GOOGLE, subject: 'a\0' }] },
    /^identities\[0\]\.subject: /,
  ],
  [
    { email: 'x@example.com', identities: [{ provider: 'google', issuer: GOOGLE, subject: '1', sub: '1' }] },
    /^identities\[0\]\.sub: There is no/,
  ],
  [{ email: 'x@example.com', invite: true }, /^invite: An import invites nobody/],
  [{ email: 'x@example.com', roles: 5, disabled: 5 }, /^roles: .*disabled: /],
  [`{"email":"x@example.com","id":"${'x'.repeat(1024 * 1024)}"}`, /longer than 1 MiB/],
]

describe('lines that cannot be imported', () => {
  test('each is named by number and reason, and the good ones between them are imported', async () => {
    const text = BAD.flatMap(([line], index) => [
      typeof line === 'string' ? line : JSON.stringify(line),
      JSON.stringify({ email: `good${index}@example.com` }),
    ]).join('\n')
    const result = await importJson(service, text)
    const problems = problemsOf(result)
    for (const [index, [line, problem]] of BAD.entries()) {
      assert.match(problems.get(index * 2 + 1) ?? '', problem, JSON.stringify(line).slice(0, 200))
    }
    assert.deepEqual([result.imported, result.failed, result.code], [BAD.length, BAD.length, 1])
    assert.equal(problems.size, BAD.length)
    assert.equal((await exportLines(service)).length, BAD.length)
    assert.doesNotMatch(result.stderr.replaceAll('\n', ''), /\p{Cc}/u, 'none may reach the terminal')
  })

  test('what an earlier line has, in any case', async () => {
    const identity = { provider: 'corp', issuer: 'https://corp.example', subject: 'Subject' }
    const id = '5bbc934a-c1ac-4404-b855-977959858079'
    const lines = [
      { id, email: 'Same@example.com', username: 'samename', identities: [identity] },
      { email: 'sAME@EXAMPLE.com' },
      { email: 'other1@example.com', username: 'SAMENAME' },
      { email: 'other2@example.com', id: id.toUpperCase() },
      { email: 'other3@example.com', identities: [{ ...identity, provider: 'another' }] },
      { email: 'other4@example.com', identities: [identity, identity].map((each) => ({ ...each, subject: 'twice' })) },
      { email: 'other5@example.com', identities: [{ ...identity, subject: 'subject' }] },
      { email: 'other5@example.com' },
    ]
    const result = await importJson(service, lines)
    const problems = problemsOf(result)
    assert.deepEqual(Object.fromEntries(problems), {
      2: 'email: number 1 of this file has the same one',
      3: 'username: number 1 of this file has the same one',
      4: 'id: number 1 of this file has the same one',
      5: 'identities: number 1 of this file has the same one',
      6: 'identities: the same one twice',
      8: 'email: number 7 of this file has the same one',
    })
    assert.equal(result.imported, 2)
  })

  test('what another account has', async () => {
    const { person } = await signedUp(service)
    const identity = { provider: 'corp', issuer: 'https://corp.example', subject: 'theirs' }
    await importJson(service, [{ email: 'owner@example.com', identities: [identity] }])
    const result = await importJson(service, [
      { email: 'new1@example.com', username: person.username },
      { email: 'new2@example.com', identities: [identity] },
      { email: person.email, username: 'anothername' },
    ])
    assert.deepEqual(Object.fromEntries(problemsOf(result)), {
      1: `username: another account has ${person.username} already`,
      2: 'identities[0]: this account at corp is connected to another user already',
    })
    assert.deepEqual([result.imported, result.existing], [0, 1])
  })

  test('bytes that are no UTF-8, and files that are no text', async () => {
    const latin = Buffer.concat([Buffer.from('{"email":"latin'), Buffer.from([0xe9]), Buffer.from('@example.com"}\n')])
    assert.match((await importLines(service, latin)).stderr, /line 1: it is not valid UTF-8/)
    const line = Buffer.from('{"email":"zip@example.com"}\n')
    const zipped = await importLines(service, gzipSync(line))
    assert.deepEqual([zipped.code, /is compressed: use gunzip/.test(zipped.stderr)], [1, true])
    const wide = await importLines(service, Buffer.from(`\uFEFF${line.toString()}`, 'utf16le'))
    assert.deepEqual([wide.code, /is UTF-16/.test(wide.stderr)], [1, true])
  })

  test('files that cannot be read or written', async () => {
    const absent = await service.cli(['users', 'import', 'absent.jsonl'])
    assert.deepEqual([absent.code, /absent\.jsonl cannot be read \(ENOENT\)/.test(absent.stderr)], [1, true])
    const folder = await service.cli(['users', 'import', '.'])
    assert.equal(folder.code, 1)
    assert.match(folder.stderr, /cannot be read \(EISDIR\)/)
    const ids = await importLines(service, [{ email: 'ids@example.com' }], ['--ids', 'no/such/folder.jsonl'])
    assert.equal(ids.code, 1)
    assert.match(ids.stderr, /no\/such\/folder\.jsonl\.partial cannot be written \(ENOENT\)/)
    const itself = await service.cli([
      'users',
      'import',
      writeInput(service, 'same.jsonl', '{}'),
      '--ids',
      './same.jsonl',
    ])
    assert.match(itself.stderr, /--ids \.\/same\.jsonl is the file that is imported/)
    const noFile = await importLines(service, [{ email: 'ids@example.com' }], ['--ids', '.'])
    assert.match(noFile.stderr, /--ids \. is no file/)
    assert.ok(!(await exportLines(service)).some(({ email }) => email === 'ids@example.com'), 'before anything changes')
  })
})
