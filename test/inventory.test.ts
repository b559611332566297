// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { TABLES } from '../src/storage/tables.ts'

const ROOT = path.join(import.meta.dirname, '..')
const DOCUMENT = readFileSync(path.join(ROOT, 'docs/inventory.md'), 'utf8')

const sources = globSync('**/*.{ts,js}', { cwd: path.join(ROOT, 'src') }).map((file) => ({
  file: file.replaceAll(path.sep, '/'),
  text: readFileSync(path.join(ROOT, 'src', file), 'utf8'),
}))

/** The names in backticks in one column of the tables below a heading. */
const namesIn = (heading: string, column: number, text = DOCUMENT): string[] => {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...(line.split(' | ')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    .toSorted()
}

const PURPOSE =
  /\.for\('([^']+)'\)|\bconst (?:PURPOSE|SEALING|HASHING|purpose) = '([^']+)'|^ {2,4}.*\bpurpose: '([^']+)'[, ]/gm

/** The purposes for which a file derives keys from the root secret. */
const purposesOf = (text: string): string[] =>
  /\b(?:createSealedTokens|createChallenges|createRefreshTokens|keys\.for)\b/.test(text)
    ? [...text.matchAll(PURPOSE)].map(([, derived, named, sealed]) => derived ?? named ?? sealed ?? '')
    : []

const FROM_CRYPTO = /import \{([^}]*)\} from 'node:crypto'|getBuiltinModule\('node:crypto'\)/g
const LIBRARY =
  /^import (?!type\b).*from '(?:@node-rs\/\w+|@simplewebauthn\/server|otpauth)'|import\('(?:@node-rs\/\w+|@simplewebauthn\/server|otpauth)'\)/m

/** Whether a file uses cryptography for more than making an ID. */
const usesCryptography = (text: string): boolean =>
  LIBRARY.test(text) ||
  [...text.matchAll(FROM_CRYPTO)].some(([, names = 'all']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .some((name) => name !== '' && name !== 'randomUUIDv7' && !name.startsWith('type ')),
  )

const ALGORITHM = /\b(?:createHash|createHmac|createCipheriv|createDecipheriv|hkdfSync|hash)\(\s*'([^']+)'/g

const POWERS: readonly { name: string; pattern: RegExp; example: string }[] = [
  { name: 'other processes', pattern: /node:(?:child_process|cluster)'/, example: `import('node:child_process')` },
  { name: 'threads', pattern: /\bnew Worker\(/, example: 'new Worker(file)' },
  {
    name: 'code made of text',
    pattern: /\beval\(|\bnew Function\(|\bFunction\(|node:vm'|\.constructor\(/,
    example: 'new Function(text)',
  },
  {
    name: 'HTML without escaping',
    pattern: /\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write\b|\bsrcdoc\b/,
    example: 'field.innerHTML = text',
  },
  {
    name: 'storage of the browser, messages of other windows',
    pattern: /\b(?:local|session)Storage\b|\bindexedDB\b|addEventListener\('message'|\bonmessage\b|window\.postMessage/,
    example: 'sessionStorage.email = text',
  },
  { name: 'regular expressions made of text', pattern: /\bnew RegExp\(/, example: 'new RegExp(text)' },
  { name: '`Math.random`', pattern: /\bMath\.random\b/, example: 'Math.random()' },
]

/** The files that the row of a function names. */
const placesOf = (name: string): string[] => {
  const row = DOCUMENT.split('\n').find((line) => line.startsWith(`| ${name}`))
  assert.ok(row, `docs/inventory.md has no row "${name}"`)
  const places = [...(row.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
  return places.toSorted()
}

const usersOf = (pattern: RegExp): string[] =>
  sources
    .filter(({ text }) => pattern.test(text.replaceAll(/^\s*import type .*$/gm, '')))
    .map(({ file }) => file)
    .toSorted()

describe('docs/inventory.md', () => {
  test('has every table of the database, and no other', () => {
    assert.deepEqual(namesIn('Data', 0), TABLES.map(({ name }) => name).toSorted())
  })

  test('has every key that is derived from the root secret, and no other', () => {
    const purposes = new Set(sources.flatMap(({ text }) => purposesOf(text)))
    assert.ok(purposes.size > 10)
    assert.deepEqual(
      namesIn('Keys', 0).filter((name) => !name.startsWith('SVC_')),
      [...purposes].toSorted(),
    )
  })

  test('has every file that uses cryptography, and no other', () => {
    const used = sources.filter(({ text }) => usesCryptography(text)).map(({ file }) => file)
    const named = namesIn('Algorithms', 2)
    const isNamed = (file: string) =>
      named.some((name) => file === name || (name.endsWith('/') && file.startsWith(name)))
    assert.deepEqual(
      used.filter((file) => !isNamed(file)),
      [],
    )
    assert.deepEqual(
      named.filter((name) => !used.some((file) => file === name || (name.endsWith('/') && file.startsWith(name)))),
      [],
    )
  })

  test('algorithms that svc names itself are SHA-256 and AES-256-GCM, but for hashes of other systems and known passwords', () => {
    const own = sources.filter(({ file }) => !/^accounts\/passwords\/(?:foreign-hashes|blocklist)\//.test(file))
    const algorithms = own.flatMap(({ text }) => [...text.matchAll(ALGORITHM)].map(([, name = '']) => name))
    assert.deepEqual([...new Set(algorithms)].toSorted(), ['aes-256-gcm', 'sha256'])
  })

  for (const { name, pattern, example } of POWERS) {
    test(`powerful functions are where it says, and nowhere else: ${name}`, () => {
      assert.deepEqual(usersOf(pattern), placesOf(name))
      assert.match(example, pattern)
    })
  }

  test('has every package that svc is installed with, and no other', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual(namesIn('Packages', 0), Object.keys(dependencies).toSorted())
  })

  test('a missing name is found', () => {
    assert.deepEqual(
      namesIn('Data', 0, '## Data\n\n| table | level |\n| --- | --- |\n| `users`, `links` | x `y` |\n'),
      ['links', 'users'],
    )
    assert.deepEqual(purposesOf(`hmac(keys.for('a'), '')\nconst SEALING = 'b'\n`), ['a', 'b'])
    assert.ok(usesCryptography(`import { createHash, randomUUIDv7 } from 'node:crypto'`))
    assert.ok(!usesCryptography(`import { type KeyObject, randomUUIDv7 } from 'node:crypto'`))
  })
})
