// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'

const FOLDER = path.join(import.meta.dirname, '../docs/decisions')

interface Page {
  file: string
  text: string
}

/** A page's header: the title with its number, a blank line, status, date, a blank line. */
const HEADER = /^# (?<number>\d{3}): (?<title>\S.*)\n\n- Status: (?<status>.+)\n- Date: (?<date>\S+)\n\n/

/** The row of the index that a page asks for, up to the summary. */
const rowOf = ({ file, text }: Page): string => {
  const { number, title, status } = HEADER.exec(text)?.groups ?? {}
  return `| [${number}](${file}) | ${title} | ${status} | `
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)

/** What is wrong with one page by itself, given the numbers that a status may name. */
const findFaults = ({ file, text }: Page, numbers: string[]): string[] => {
  const { number = '', status = '', date = '' } = HEADER.exec(text)?.groups ?? {}
  if (number === '') return [`${file}: has no header with number, status and date`]
  const successor = /^superseded by (\d{3})$/.exec(status)?.[1]
  const isKnownStatus = status === 'accepted' || (successor !== undefined && numbers.includes(successor))
  const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name)
  return [
    ...(file.startsWith(`${number}-`) ? [] : [`${file}: calls itself ${number}`]),
    ...(numbers.filter((other) => other === number).length === 1 ? [] : [`${file}: shares its number`]),
    ...(isKnownStatus ? [] : [`${file}: has the status "${status}"`]),
    ...(isDay(date) ? [] : [`${file}: has the date "${date}"`]),
    ...['Context', 'Decision', 'Consequences']
      .filter((section) => !sections.includes(section))
      .map((section) => `${file}: has no section "${section}"`),
  ]
}

/** What is wrong with the pages and their index, one line each. */
const findProblems = (pages: Page[], index: string): string[] => {
  const numbers = pages.map(({ file }) => file.slice(0, 3))
  const rows = index.split('\n').filter((line) => line.startsWith('| ['))
  const wanted = pages.map(rowOf)
  return [
    ...pages.flatMap((page) => findFaults(page, numbers)),
    ...wanted
      .filter(
        (start) => rows.filter((row) => row.startsWith(start) && /\S \|$/.test(row.slice(start.length))).length !== 1,
      )
      .map((start) => `the index has not one row: ${start}`),
    ...rows
      .filter((row) => !wanted.some((start) => row.startsWith(start)))
      .map((row) => `the index has too much: ${row}`),
  ]
}

const page = (
  number: string,
  { status = 'accepted', date = '2026-11-22', sections = 'Context Decision Consequences' } = {},
) => ({
  file: `${number}-subject.md`,
  text: `# ${number}: Title\n\n- Status: ${status}\n- Date: ${date}\n\n${sections.replaceAll(/\w+/g, '\n## $&\n')}`,
})

const row = (number: string, status = 'accepted') =>
  `| [${number}](${number}-subject.md) | Title | ${status} | Summary. |`

describe('the decisions', () => {
  test('each has a unique number, a status, a date, its sections, and a row in the index', () => {
    const names = globSync('*.md', { cwd: FOLDER }).filter((name) => name !== 'README.md')
    const pages = names.sort().map((file) => ({ file, text: readFileSync(path.join(FOLDER, file), 'utf8') }))
    assert.deepEqual(findProblems(pages, readFileSync(path.join(FOLDER, 'README.md'), 'utf8')), [])
    assert.ok(pages.length >= 26)
  })

  test('pages and index that agree have no problem', () => {
    const pages = [page('001', { status: 'superseded by 002' }), page('002')]
    assert.deepEqual(findProblems(pages, [row('001', 'superseded by 002'), row('002')].join('\n')), [])
  })

  test('a missing or wrong header is found', () => {
    const wrong: [Page, string][] = [
      [{ file: '001-subject.md', text: '# 001: Title\n\n## Context\n' }, 'has no header with number, status and date'],
      [{ ...page('001'), file: '002-subject.md' }, 'calls itself 001'],
      [page('001', { status: 'superseded by 007' }), 'has the status "superseded by 007"'],
      [page('001', { status: 'perhaps' }), 'has the status "perhaps"'],
      [page('001', { date: '2026-02-30' }), 'has the date "2026-02-30"'],
      [page('001', { sections: 'Context Decision' }), 'has no section "Consequences"'],
    ]
    for (const [one, problem] of wrong) {
      assert.ok(findProblems([one], '').includes(`${one.file}: ${problem}`), problem)
    }
  })

  test('a number that two pages share is found', () => {
    const pages = [page('001'), { ...page('001'), file: '001-other.md' }]
    assert.deepEqual(findProblems(pages, [row('001'), row('001').replace('subject', 'other')].join('\n')), [
      '001-subject.md: shares its number',
      '001-other.md: shares its number',
    ])
  })

  test('a row that is missing, repeated, empty, out of date or without a page is found', () => {
    const start = '| [001](001-subject.md) | Title | accepted | '
    assert.deepEqual(findProblems([page('001')], ''), [`the index has not one row: ${start}`])
    assert.deepEqual(findProblems([page('001')], `${row('001')}\n${row('001')}`), [
      `the index has not one row: ${start}`,
    ])
    assert.deepEqual(findProblems([page('001')], `${start} |`), [`the index has not one row: ${start}`])
    const stale = row('001').replace('Title', 'Old title')
    assert.deepEqual(findProblems([page('001')], stale), [
      `the index has not one row: ${start}`,
      `the index has too much: ${stale}`,
    ])
    assert.deepEqual(findProblems([page('001')], `${row('001')}\n${row('002')}`), [
      `the index has too much: ${row('002')}`,
    ])
  })
})
