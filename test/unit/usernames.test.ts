// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { requireUsername, usernameFrom, usernamesFor } from '../../src/accounts/username.ts'

const names: Record<string, string | undefined> = {
  ada: 'ada',
  'Ada Lovelace': 'ada-lovelace',
  'José Álvarez': 'jose-alvarez',
  'Łukasz Żółć': 'ukasz-zo-c',
  Jürgen_W: 'jurgen_w',
  'jo@example.com': undefined,
  'john.doe@example.com': 'john-doe',
  'a@b@c': undefined,
  '@ada': undefined,
  ＡＤＡ: 'ada',
  ﬁnn: 'finn',
  'Kelvin K': 'kelvin-k',
  'O’Brien, Pat (work)': 'o-brien-pat-work',
  '--ada--': 'ada',
  __ada__: '__ada__',
  日本語: undefined,
  '😀😀😀': undefined,
  ab: undefined,
  'a b': 'a-b',
  '   ': undefined,
  '': undefined,
  '<script>alert(1)</script>': 'script-alert-1-script',
  "'; DROP TABLE users; --": 'drop-table-users',
  'a\u0000b\nc': 'a-b-c',
  ['x'.repeat(31)]: 'x'.repeat(30),
}
const cut = { [`${'x'.repeat(29)} y`]: 'x'.repeat(29), [`${'x'.repeat(28)} yz`]: `${'x'.repeat(28)}-y` }

describe('a username from a profile', () => {
  for (const [name, username] of Object.entries({ ...names, ...cut })) {
    test(`${JSON.stringify(name)} → ${username}`, () => {
      assert.equal(usernameFrom(name), username)
      if (username !== undefined) assert.equal(requireUsername(username), username)
    })
  }

  test('a very long name takes no measurable time', () => {
    assert.equal(usernameFrom(`${'á'.repeat(100_000)}@x`), 'a'.repeat(30))
    assert.equal(usernameFrom('-'.repeat(100_000)), undefined)
  })
})

describe('usernames to try', () => {
  test('the plain name, then names with more and more digits, each valid', () => {
    for (const name of ['ada', 'x'.repeat(30), 'a', '', 'a.b+c']) {
      const tries = [...usernamesFor(name)]
      const plain = name.replace(/[.+]/g, '-')
      if (plain.length >= 3) assert.equal(tries.shift(), plain)
      assert.equal(tries.length, 8)
      for (const [index, username] of tries.entries()) {
        if (name !== '' || index > 0) assert.equal(requireUsername(username), username)
        assert.match(username, new RegExp(`\\d{${index + 2}}$`))
        assert.ok(username.startsWith(plain.slice(0, 30 - index - 2)))
      }
    }
  })
})
