// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Column, createTable, recordText } from '../../src/cli/terminal/table.ts'

interface Row {
  id: string
  email: string
  note: string
}

const columns: Column<Row>[] = [
  { title: 'id', value: ({ id }) => id, minWidth: 5, keeps: 'end' },
  { title: 'email', value: ({ email }) => email, minWidth: 8 },
  { title: 'note', value: ({ note }) => note, optional: true, tone: ({ note }) => (note ? 'red' : undefined) },
]

const ada = { id: '0123456789', email: 'ada@example.com', note: '' }
const bob = { id: '9876543210', email: 'bob@a-long-domain.example', note: 'gone' }

const plain = (_tone: unknown, text: string): string => text
const marked = (tone: unknown, text: string): string => (tone === 'red' ? `<${text}>` : text)
const tableOf = (width?: number, paint = plain) => createTable(columns, { width, paint })

test('columns are as wide as their widest cell, and no line ends in spaces', () => {
  assert.equal(
    tableOf().page([ada, bob]),
    'id          email                      note\n' +
      '0123456789  ada@example.com\n' +
      '9876543210  bob@a-long-domain.example  gone\n',
  )
})

test('on a terminal cells are cut at the less useful end, and every line fits', () => {
  const text = tableOf(30).page([ada, bob])
  assert.equal(text, 'id         email          note\n…23456789  ada@example.…\n…76543210  bob@a-long-d…  gone\n')
  for (const line of text.split('\n')) assert.ok([...line].length <= 30, line)
})

test('an optional column is left out if there is no room for it', () => {
  assert.equal(tableOf(16).page([ada, bob]), 'id     email\n…6789  ada@exam…\n…3210  bob@a-lo…\n')
})

test('if the terminal is too narrow for a row, each row is a record with complete values', () => {
  assert.equal(
    tableOf(12).page([ada, bob]),
    'id     0123456789\nemail  ada@example.com\nnote\n\nid     9876543210\nemail  bob@a-long-domain.example\nnote   gone\n',
  )
})

test('a later page has no heading, keeps the widths and may only widen them', () => {
  const table = tableOf()
  table.page([bob])
  assert.equal(table.page([ada]), '0123456789  ada@example.com\n')
  assert.equal(table.page([{ ...ada, note: 'x' }]), '0123456789  ada@example.com            x\n')
})

test('colour does not count for the width of a cell', () => {
  assert.match(tableOf(undefined, marked).page([bob]), /example {2}<gone>\n$/)
})

test('a character that controls the terminal is shown as a question mark: escape, line end, bidirectional override', () => {
  const text = tableOf().page([{ ...ada, note: 'a\x1b[2J\nb\u202ec\u2028d' }])
  assert.match(text, / a\?\[2J\?b\?c\?d\n$/)
  assert.equal(recordText([['name', 'a\x1b]0;b\x07']], plain), 'name  a?]0;b?\n')
})

test('characters outside the basic plane count as one and are never halved', () => {
  const text = createTable([{ title: 'x', value: (row: string) => row, minWidth: 2 }], { width: 3, paint: plain }).page(
    ['😀😀😀😀'],
  )
  assert.equal(text, 'x\n😀😀…\n')
})
