// Runs on SQLite.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readConfig } from '../../../src/config/config.ts'
import { newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertErrorPage, assertPage } from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = temporaryDirectory()
const file = path.join(folder, 'list.txt')

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase()

/** Lines as the public list has them. */
const hashLines = (passwords: string[]): string[] => passwords.map((each, index) => `${sha1(each)}:${index + 1}`).sort()

/** Another file takes the place of the one before at once, as `mv` does. */
const putInPlace = (content: string | Buffer): void => {
  const next = path.join(folder, 'next.txt')
  writeFileSync(next, content)
  renameSync(next, file)
}

putInPlace('nothing that anybody enters\n')
const service = await startService({ env: { SVC_PASSWORD_BLOCKLIST_FILE: file } })

const signUpWith = (password: string) => signUp(newAgent(service), { ...newPerson(), password })

const assertKnown = async (password: string) => {
  const answer = await signUpWith(password)
  assertPage(answer, 422)
  assert.match(answer.text, /name="password"[^>]*aria-invalid="true"/)
  assert.match(answer.text, /This password is on a list of known passwords/, password)
}
const assertUnknown = async (password: string) => assert.equal((await signUpWith(password)).status, 303, password)

const LISTED = ['Tr0ub4dor & three', 'zebra crossing', 'a listed phrase', 'Straße nach Köln', '  spaces around  ']
const UNLISTED = ['Tr0ub4dor & four', 'zebra crossings', 'listed phrase', 'spaces around', 'Strasse nach Koeln']

const FORMS: Record<string, string | Buffer> = {
  'one password a line, in any order': `${LISTED.join('\n')}\n`,
  'the same with the line ends of Windows, a byte order mark and no end of the last line': `\ufeff${LISTED.join('\r\n')}`,
  'the same between empty, short, endless and broken lines': Buffer.concat([
    Buffer.from(`\n\n1234\n${'x'.repeat(600_000)}zebra\n${LISTED.slice(0, 2).join('\n')}\n`),
    Buffer.from([0xff, 0xfe, 0x80, 0x41, 0x0a]),
    Buffer.from(`${LISTED.slice(2).join('\n')}\n${'y'.repeat(5000)}`),
  ]),
  'the same in another normal form of Unicode': LISTED.join('\n').normalize('NFD'),
  'SHA1HEX:COUNT': `${hashLines(LISTED).join('\n')}\n`,
  'the same with the line ends of Windows, in lower case and no end of the last line': hashLines(LISTED)
    .join('\r\n')
    .toLowerCase(),
  'SHA1HEX without a count': `${hashLines(LISTED)
    .map((line) => line.slice(0, 40))
    .join('\n')}\n`,
}

describe('§2.3 SVC_PASSWORD_BLOCKLIST_FILE', () => {
  for (const [form, content] of Object.entries(FORMS)) {
    test(`refuses what is listed, and nothing else: ${form}`, async () => {
      putInPlace(content)
      for (const password of LISTED) await assertKnown(password)
      for (const password of UNLISTED) await assertUnknown(password)
    })
  }

  test('letters count in any case in a list of passwords; a list of hashes refuses what it has, as typed or in lower case', async () => {
    putInPlace('Zebra Crossing\n')
    for (const password of ['zebra crossing', 'ZEBRA CROSSING', 'zEbRa CrOsSiNg']) await assertKnown(password)
    putInPlace(`${hashLines(['zebra crossing', 'Purple Zebra']).join('\n')}\n`)
    for (const password of ['zebra crossing', 'ZEBRA CROSSING', 'Purple Zebra']) await assertKnown(password)
    await assertUnknown('purple zebra')
  })

  test('the built-in list stays', async () => {
    putInPlace('nothing that anybody enters\n')
    const answer = await signUpWith('password1')
    assert.match(answer.text, /This password is too common/)
  })

  test('every line of a long list of hashes is found, the first and the last, and no other', async () => {
    const passwords = Array.from({ length: 20_000 }, () => randomUUID())
    const lines = hashLines(passwords)
    putInPlace(`${lines.join('\r\n')}\r\n`)
    const bySha1 = new Map(passwords.map((password) => [sha1(password), password]))
    for (const index of [0, 1, 63, 64, 9999, 10_000, 12_345, 19_998, 19_999]) {
      await assertKnown(bySha1.get(lines[index]?.slice(0, 40) ?? '') ?? '')
    }
    for (let count = 0; count < 20; count += 1) await assertUnknown(randomUUID())
  })

  test('many at once share one reading of a list that has just changed', async () => {
    putInPlace(Array.from({ length: 50_000 }, (_, index) => `passphrase ${index}`).join('\n'))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => signUpWith(`Passphrase ${index * 2500}`)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([422]))
  })

  test('while the file is gone or broken no password can be set: 503; logins go on, and it works again when it is back', async () => {
    const { person } = await signedUp(service)
    const latin1 = Buffer.from('Straße\n', 'latin1')
    const malformed = hashLines(LISTED)
      .map((line) => `${line},000\n`)
      .join('')
    const broken = [
      '',
      latin1,
      malformed,
      gzipSync(LISTED.join('\n')),
      `${hashLines(LISTED).toReversed().join('\n')}\n`,
    ]
    for (const content of [undefined, ...broken]) {
      if (content === undefined) rmSync(file)
      else writeFileSync(file, content)
      assertErrorPage(await signUpWith('zebra crossing'), 503)
      assertErrorPage(await signUpWith(randomUUID()), 503)
      await assertCanLogIn(service, person)
      putInPlace('zebra crossing\n')
      await assertKnown('zebra crossing')
      await assertUnknown(randomUUID())
    }
    assert.match(service.logs(), /SVC_PASSWORD_BLOCKLIST_FILE\) cannot be read/)
    assert.match(service.logs(), /ENOENT/)
  })
})

const problemWith = (given: string): string => {
  try {
    readConfig({ SVC_PASSWORD_BLOCKLIST_FILE: given }, () => '')
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
const problemOf = (content: string | Buffer): string => {
  const broken = path.join(folder, 'broken.txt')
  writeFileSync(broken, content)
  return problemWith(broken)
}
const many = hashLines(Array.from({ length: 5000 }, (_, index) => `password ${index}`))
const late = (text: string) => Buffer.concat([Buffer.from('a line\n'.repeat(10)), Buffer.from(text, 'latin1')])
const withLine = (index: number, line: string): string => `${many.with(index, line).join('\n')}\n`

describe('§2.3 a file that is no list is refused at the start, with what is wrong', () => {
  test('good ones are accepted, with the last line ended or not', () => {
    assert.equal(problemOf(many.join('\n')), '')
    assert.equal(problemOf(`${many.join('\r\n')}\r\n`), '')
    assert.equal(problemOf(`${many[0]}\n`), '')
    assert.equal(problemOf('one line'), '')
  })

  const BROKEN: Record<string, readonly [content: string | Buffer, problem: RegExp]> = {
    empty: ['', /is empty/],
    'empty lines alone': ['\n\r\n\n', /is empty/],
    compressed: [gzipSync(many.join('\n')), /is no text/],
    'in UTF-16': [Buffer.from('zebra crossing\n', 'utf16le'), /is no text/],
    'other hashes': [`${'0'.repeat(32)}:5\n`, /not SHA-1/],
    'hashes in another order': [`${many[1]}\n${many[0]}\n`, /not sorted: line 2/],
    'hashes by their counts': [
      many.toSorted((a, b) => a.slice(20).localeCompare(b.slice(20))).join('\n'),
      /not sorted/,
    ],
    'one line of a short list': [`${many[0]}\nzebra crossing\n`, /line 2 that is not SHA1HEX:COUNT/],
    'an empty line between': [`${many[0]}\n\n${many[1]}\n`, /line 2 that/],
    'a long list, cut off': [many.join('\n').slice(0, -30), /near byte \d+ that is not SHA1HEX:COUNT/],
    'a long list with one more line at the end': [withLine(4999, many[0] ?? ''), /not sorted: a line near byte/],
    'a byte order mark before hashes': [`\ufeff${many[0]}\n`, /begins with a byte order mark/],
  }
  const hash = '0'.repeat(39)
  const MALFORMED = [
    ':1,000',
    ' : 1',
    ':',
    ':-1',
    ':1:2',
    ',1',
    '\t1',
    'A:1',
    ':1 # known',
    ':1234567890123456',
    ' 1',
  ].map((end) => [`${hash}a${end}`, JSON.stringify(`SHA1HEX${end}`)] as const)
  const quoted = [`"${hash}b",1`, JSON.stringify('"SHA1HEX",1')] as const
  const indented = [`  ${hash}c:1`, JSON.stringify('  SHA1HEX:1')] as const
  for (const [line, shown] of [...MALFORMED, quoted, indented]) {
    for (const [where, place] of [
      ['first', 1],
      ['third', 3],
    ] as const)
      for (const written of [line, line.toUpperCase()])
        test(`${where} line ${JSON.stringify(written)}`, () => {
          const lines = [`${hash}0:1`, `${hash}1:1`].slice(0, place - 1)
          const message = problemOf([...lines, written, many.at(-1)].join('\r\n'))
          assert.match(message, /broken\.txt" /)
          const form = written === line ? shown : JSON.stringify(JSON.parse(shown).toUpperCase())
          const [begin, end] = form.slice(0, -1).split('SHA1HEX')
          assert.ok(message.includes(`has line ${place} that is not SHA1HEX:COUNT, but ${begin}SHA1HEX${end}`), message)
        })
  }

  Object.assign(BROKEN, {
    'a title above hashes': [`hash:count\n${many.slice(0, 9).join('\n')}\n`, /line 1 that is not SHA1HEX:COUNT$/],
    'a byte order mark before a malformed line': [`\ufeff${hash}0:1,0\n`, /begins with a byte order mark/],
    'in Latin-1': [late('Gr\xfc\xdfe aus K\xf6ln\n'), /is not UTF-8 in line 11: save it as UTF-8/],
    'in Latin-1, without the end of a line': [late('Caf\xe9'), /is not UTF-8 in line 11/],
    'hashes with a line in Latin-1': [late('').fill(`${hash}0:1\n`).fill(0xe9, 50, 51), /is not UTF-8 in line 2/],
    'line ends of old Macs': ['a password\ranother\r', /has no line feeds/],
    'hashes of MD5 alone': [`${'0'.repeat(32)}\n`, /not SHA-1/],
    'hashes of SHA-256 alone, quoted': [`"${'0'.repeat(64)}"\n`, /not SHA-1/],
  })

  test('upper and lower case in one list of hashes are in order, and a character across the end of what is read is whole', () => {
    assert.equal(problemOf(`${many.map((line, at) => (at % 2 ? line.toLowerCase() : line)).join('\n')}\n`), '')
    for (let shift = 0; shift < 3; shift += 1) assert.equal(problemOf('x'.repeat(shift) + '€'.repeat(30_000)), '')
    assert.equal(problemOf(`a password\n${many.slice(0, 1).join('\n')}\nanother\n`), '')
  })

  for (const [what, [content, problem]] of Object.entries(BROKEN)) {
    test(what, () => {
      const message = problemOf(content)
      assert.match(message, /^SVC_PASSWORD_BLOCKLIST_FILE is not accepted: ".*broken\.txt" /)
      assert.match(message, problem)
      assert.equal(message.split('\n').length, 1)
    })
  }

  test('missing, a folder, a pipe that nobody writes to, and too many passwords for a list in memory', () => {
    assert.match(problemWith(path.join(folder, 'missing.txt')), /missing\.txt" cannot be read \(ENOENT\)/)
    mkdirSync(path.join(folder, 'folder'))
    execFileSync('mkfifo', [path.join(folder, 'pipe')])
    for (const other of ['folder', 'pipe']) assert.match(problemWith(path.join(folder, other)), /is no regular file/)
    const large = path.join(folder, 'large.txt')
    writeFileSync(large, 'zebra crossing\n'.repeat(5000))
    truncateSync(large, 2 ** 28 + 1)
    assert.match(problemWith(large), /more than 256 MiB: so large a list must have SHA1HEX:COUNT lines/)
  })
})
