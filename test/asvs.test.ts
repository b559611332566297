// Runs once.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'

const FOLDER = path.join(import.meta.dirname, '../docs')
const DOCUMENT = readFileSync(path.join(FOLDER, 'asvs.md'), 'utf8')

/** The levels of the requirements of ASVS 5.0.0: a line for each chapter, a word for each section. */
const LEVELS = [
  '22 1111122223 112222222223 222 123',
  '122 112 12223 23',
  '3 113 12223 11222233 11122333 3 22333',
  '12233 23333 22 1222',
  '2 112333 113 222',
  '122 111111112222 11223333 112233 22222333 2223 33 2222',
  '222 1111 22 11222 223 22',
  '1233 1123 133 23',
  '111 1222',
  '22 223 22223 1111122222233333 22222 22 222',
  '2233 22233 11233 1222 23 23 33',
  '12233 11 22223',
  '2333 222223 2233 1222233',
  '22 12223333 122',
  '12233 12233 1222222 3333',
  '2 22222 2222 222 2223',
  '23 22223333 22',
]

/** The level of each requirement, by number. */
const levels = new Map<string, string>(
  LEVELS.flatMap((chapter, chapterIndex) =>
    chapter
      .split(' ')
      .flatMap((section, sectionIndex) =>
        [...section].map((level, index) => [`${chapterIndex + 1}.${sectionIndex + 1}.${index + 1}`, level] as const),
      ),
  ),
)

const STATES = ['met', 'met by deployment', 'not met', 'does not apply'] as const
type State = (typeof STATES)[number]

interface Claim {
  number: string
  level: string
  state: State
  /** What proves it, what is to be done, or the reason. */
  text: string
}

const ROW =
  /^\| (?<number>\d+\.\d+\.\d+) \| (?<level>[123]) \| [^|]+ \| (?<state>met by deployment|not met|met): (?<text>[^|]+) \|$/

const claimsOf = (text: string): Claim[] =>
  text
    .split('\n')
    .filter((line) => /^\| \d/.test(line) && !/^\| \d \|/.test(line))
    .map((line) => {
      const { number = '', level = '', state = '', text: reason = '' } = ROW.exec(line)?.groups ?? {}
      assert.notEqual(number, '', `not a row of the sheet: ${line}`)
      return { number, level, state: state as State, text: reason }
    })

/** The numbers that a chapter says do not apply, each with its level. */
const leftOutOf = (text: string): Claim[] =>
  [...`${text}\n`.matchAll(/^Does not apply: ([^]*?)\n\n/gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/\b(\d+\.\d+)\.(\d+)(?: to (?:\d+\.\d+\.)?(\d+))?\b/g)].flatMap(([, section = '', first, last]) =>
      Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, index) => {
        const number = `${section}.${Number(first) + index}`
        return { number, level: levels.get(number) ?? '', state: 'does not apply' as const, text: '' }
      }),
    ),
  )

const LINK = /\[([^\]]+)\]\(([^)#]+)(?:#[\w-]+)?\)/g
const TITLE = /\b(?:(?:describe|test\w*)\(\s*|title: )(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g

const titlesOf = (file: string): string[] =>
  [...readFileSync(path.join(FOLDER, file), 'utf8').matchAll(TITLE)].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1').replaceAll(/\s+/g, ' '),
  )

/** Whether a title is the one that is named; `…` stands for any text. */
const isNamed = (title: string, name: string): boolean => {
  const pattern = name
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`).test(title)
}

/** Tests that a text names and that do not exist, as `file: title`. */
const findMissingTests = (text: string): string[] =>
  [...text.matchAll(LINK)]
    .filter(([, , file = '']) => file.startsWith('../') && file.endsWith('.test.ts'))
    .filter(([, name = '', file = '']) => {
      if (!existsSync(path.join(FOLDER, file)) || name.replaceAll('…', '').length < 8) return true
      return !titlesOf(file).some((title) => isNamed(title, name))
    })
    .map(([, name, file]) => `${file}: ${name}`)

const claims = claimsOf(DOCUMENT)
const leftOut = leftOutOf(DOCUMENT)

describe('docs/asvs.md', () => {
  test('names tests that exist', () => {
    assert.deepEqual(findMissingTests(DOCUMENT), [])
    assert.ok([...DOCUMENT.matchAll(LINK)].filter(([, , file]) => file?.endsWith('.test.ts')).length > 150)
  })

  test('has every requirement of levels 1 and 2 once, and each with its level', () => {
    const numbers = [...claims, ...leftOut].map(({ number }) => number)
    assert.deepEqual(
      numbers.filter((number, index) => numbers.indexOf(number) !== index),
      [],
      'named twice',
    )
    const asked = [...levels].filter(([, level]) => level !== '3').map(([number]) => number)
    assert.deepEqual(
      asked.filter((number) => !numbers.includes(number)),
      [],
      'missing',
    )
    for (const { number, level } of [...claims, ...leftOut]) assert.equal(level, levels.get(number), number)
  })

  test('has for each claim a test or a document, and for each other row what to do or why', () => {
    for (const { number, state, text } of claims) {
      if (state === 'met') assert.match(text, /\]\([^)]+(?:\.test\.ts|\.md(?:#[\w-]+)?)\)/, number)
      else assert.ok(text.replaceAll(LINK, '').length > 20, number)
    }
  })

  test('counts what it says, by level', () => {
    for (const level of ['1', '2', '3']) {
      const own = [...claims, ...leftOut].filter((claim) => claim.level === level)
      const counts = STATES.map((state) => own.filter((claim) => claim.state === state).length)
      assert.ok(DOCUMENT.includes(`\n| ${level} | ${counts.join(' | ')} |\n`), `level ${level}: ${counts.join(' | ')}`)
    }
    const named = /^Not met at levels 1 and 2: ([^]*?)\n\n/m.exec(DOCUMENT)?.[1] ?? ''
    assert.deepEqual(
      [...named.matchAll(/\d+\.\d+\.\d+/g)].map(([number]) => number),
      claims.filter(({ state, level }) => state === 'not met' && level !== '3').map(({ number }) => number),
    )
  })

  test('a test that does not exist is found, and so is a row that is none', () => {
    const own = '../test/asvs.test.ts'
    assert.deepEqual(findMissingTests(`[names tests that exist](${own}) [names … exist](${own})`), [])
    assert.deepEqual(findMissingTests(`[names tests](${own}) [no such test](../test/gone.test.ts) [… …](${own})`), [
      `${own}: names tests`,
      '../test/gone.test.ts: no such test',
      `${own}: … …`,
    ])
    assert.throws(() => claimsOf('| 1.2.4 | 1 | SQL injection | perhaps: yes |'), /not a row of the sheet/)
    assert.deepEqual(
      leftOutOf('Does not apply: 4.3.1 and 4.4.2 to 4.4.4 (no\nGraphQL).\n\n').map(({ number }) => number),
      ['4.3.1', '4.4.2', '4.4.3', '4.4.4'],
    )
  })
})
