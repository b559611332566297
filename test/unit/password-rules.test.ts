// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { siteNames } from '../../src/accounts/passwords/password-names.ts'
import { createPasswordRules } from '../../src/accounts/passwords/password-rules.ts'

const rulesFor = (names: string[]) => createPasswordRules({ siteNames: names, minLength: 8 })
const requireGoodPassword = rulesFor(siteNames('https://www.acme-shop.co.example:8443', 'Blue Kettle'))
const account = ['Grace.Hopper+Shop@navy.example', 'admiral_7']

/** The reason why a password is refused; undefined when it is not. */
const reasonFor = async (password: string, names = account): Promise<string | undefined> => {
  try {
    await requireGoodPassword(password, names)
    return undefined
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'unprocessable')
    return error.reason
  }
}

const REFUSED: Record<string, readonly string[]> = {
  password_repeats: [
    'aaaaaaaa',
    'AAAAaaaa',
    '0'.repeat(256),
    '        ',
    '12121212',
    'abcabcabc',
    'abcabcab',
    'AbcaBCabc',
    'passpass',
    '1234512345',
    'qwertyqwerty',
    'abcdefgabcdefg',
    '😀😀😀😀😀😀😀😀',
    '😀🦊😀🦊😀🦊😀🦊',
    'éa'.repeat(4),
    'e\u0301a'.repeat(4),
  ],
  password_same_as_account: [
    'grace.hopper+shop@navy.example',
    'Grace.Hopper+Shop@Navy.Example1',
    'grace.hopper',
    'GraceHopper',
    'grace-hopper-1906',
    '!!grace hopper!!',
    '1906 Grace Hopper',
    'grace.hopper+shop',
    'gracehoppershop99',
    'admiral15',
    'Admiral_2024!',
    '2024admiral',
    '¡admiral!',
    'admiral_7',
  ],
  password_same_as_site: [
    'www.acme-shop.co.example',
    'acme-shop.co.example',
    'ACME-SHOP.co.example2024',
    'acmeshop',
    'acme-shop',
    'Acme Shop 24',
    'acmeshop1!',
    '#1 acme-shop.co',
    'bluekettle',
    'Blue Kettle',
    'blue-kettle-2026',
    '12bluekettle34',
  ],
}

const ACCEPTED = [
  'a blue kettle on the stove',
  'bluekettles everywhere',
  'the acme-shop opens at 9',
  'grace.hopper wrote compilers',
  'my admiral_7 password',
  'hopper grace',
  'kettle blue',
  'abcdefghabcdefgh',
  'correct horse battery staple',
  'banana bandana',
  'tomato tomato potato',
  'aaaaaaab',
  'abcdabce',
  '8305719264',
  '$%^&*()_+{}|',
]

describe('a new password', () => {
  for (const [reason, passwords] of Object.entries(REFUSED)) {
    for (const password of passwords) {
      test(`is refused, ${reason}: ${JSON.stringify(password.slice(0, 40))}`, async () => {
        assert.equal(await reasonFor(password), reason)
      })
    }
  }

  for (const password of ACCEPTED) {
    test(`is accepted, although it is similar: ${JSON.stringify(password)}`, async () => {
      assert.equal(await reasonFor(password), undefined)
      assert.equal(await requireGoodPassword(password, account), password)
    })
  }

  test('a name that is mostly digits is refused with more digits around it, and with punctuation', async () => {
    for (const password of ['p48239482!', 'p-48239482', '1p482394829', 'P48239482 2026']) {
      assert.equal(await reasonFor(password, ['p48239482']), 'password_same_as_account', password)
    }
    assert.equal(await reasonFor('p48239482 kettle', ['p48239482']), undefined)
  })

  test('a name of punctuation only, or an empty one, refuses no password of punctuation, spaces or emoji', async () => {
    for (const password of ['$%^&*()_+{}|', '😀🦊🌵🚀🎲🧩🪁🛶', '-_-_/-_- _']) {
      assert.equal(await reasonFor(password, ['', '_-_', 'ada@example.com']), undefined, password)
    }
  })

  test('names of one or two letters, and of digits only, refuse only themselves', async () => {
    const names = ['x@a.example', '12345', 'q-9']
    for (const password of ['83x05719264', '7123456789', '1983-q-2004', '48151623x']) {
      assert.equal(await reasonFor(password, names), undefined, password)
    }
    assert.equal(await reasonFor('83057192', ['83057192']), 'password_same_as_account')
    assert.equal(await reasonFor('8305-7192!', ['83057192']), 'password_same_as_account')
    const short = rulesFor(siteNames('https://x.ai', 'Go'))
    assert.equal(await short('8305719go264', names), '8305719go264')
  })
})

test('the list holds far more than the 3,000 commonest of eight characters and more', async () => {
  const file = new URL('../../src/accounts/passwords/common-passwords.txt', import.meta.url)
  const listed = readFileSync(file, 'utf8')
    .split('\n')
    .filter((password) => password.length >= 8)
  assert.ok(listed.length > 10_000)
  for (const password of listed.filter((_, index) => index % 100 === 0))
    assert.ok(await reasonFor(password, []), password)
})

describe('the names of a site', () => {
  test('of a host that is an address are the whole address: no digit of it is a name', async () => {
    for (const [url, host] of [
      ['http://127.0.0.1:8080', '127.0.0.1'],
      ['http://[2001:db8::1]:8080', '[2001:db8::1]'],
    ] as const) {
      assert.deepEqual(siteNames(url, undefined), [host])
      const rules = rulesFor(siteNames(url, undefined))
      await assert.rejects(rules(host, []), { reason: 'password_same_as_site' })
      assert.equal(await rules('8305719264', []), '8305719264')
    }
  })

  test('of a host with one label are that label; of one beyond ASCII, both spellings', async () => {
    const local = rulesFor(siteNames('http://localhost:8080', undefined))
    for (const password of ['localhost', 'Localhost123', '8080localhost'])
      await assert.rejects(local(password, []), { reason: 'password_same_as_site' })
    const names = siteNames('https://b\u00fccherregal.example', undefined)
    const rules = rulesFor(names)
    for (const password of ['b\u00fccherregal1', 'B\u00dcCHERREGAL', 'xn--bcherregal-9db.example'])
      await assert.rejects(rules(password, []), { reason: 'password_same_as_site' }, names.join())
  })

  test('do not include the top-level domain', async () => {
    assert.equal(await requireGoodPassword('example123', account), 'example123')
  })
})
