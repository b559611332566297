// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCsvLine } from '../../src/admin/events/csv.ts'

test('a cell that a spreadsheet would take for a formula is text', () => {
  const begin = ['=', '+', '-', '@', '|', '%', ' =', '"=', "'=", '\u00a0=', '＝', '＋', '－', '＠']
  for (const text of begin) {
    const line = toCsvLine([`${text}1+1`, 'plain'])
    assert.match(line, /^"?'/, text)
  }
})

test('no cell has control characters, ends a line or begins another cell', () => {
  const line = toCsvLine(['a\tb', 'a\r\nb', 'a\u0000b', 'a\u001b[2Jb', 'a\u202eb', 'a\u2028b', 'a,b', 'a"b', ' a '])
  assert.equal(line.indexOf('\r\n'), line.length - 2)
  assert.doesNotMatch(line.slice(0, -2), /[\p{Cc}\p{Zl}\p{Bidi_Control}]/u)
  assert.ok(line.endsWith(',"a,b","a""b"," a "\r\n'), line)
})

test('what is harmless stays as it is', () => {
  assert.equal(
    toCsvLine(['', 'Ada', '2026-11-28T13:32:20.403Z', 'Ada-Lovelace=x']),
    ',Ada,2026-11-28T13:32:20.403Z,Ada-Lovelace=x\r\n',
  )
})
