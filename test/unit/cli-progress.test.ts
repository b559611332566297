// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '../../src/cli/terminal/progress.ts'

/** A progress display with a clock that the test sets, and its output. */
const shown = (isTerminal: boolean, width?: number) => {
  const state = { text: '', nowMs: 0 }
  const write = (text: string): void => void (state.text += text)
  return { state, progress: createProgress({ isTerminal, width, write, now: () => state.nowMs }) }
}

test('on a terminal one line is redrawn with bar, rows, rate and time left; the last one stays', () => {
  const { state, progress } = shown(true)
  progress.show('copy users', 0, 4000)
  state.nowMs = 50
  progress.show('copy users', 500, 4000)
  state.nowMs = 500
  progress.show('copy users', 1000, 4000)
  state.nowMs = 2000
  progress.show('copy users', 4000, 4000)
  const lines = state.text.split('\r\x1b[2K').slice(1)
  assert.deepEqual(lines, [
    'copy users  ░░░░░░░░░░░░░░░░░░░░    0 %  0 of 4,000 rows  ',
    'copy users  █████░░░░░░░░░░░░░░░   25 %  1,000 of 4,000 rows  2,000/s  2 s left',
    'copy users  ████████████████████  100 %  4,000 of 4,000 rows  in 2 s\n',
  ])
})

test('no line is longer than the terminal, which would wrap it and keep a part', () => {
  const { state, progress } = shown(true, 20)
  progress.show('copy users', 1000, 4000)
  assert.equal(state.text.replace('\r\x1b[2K', '').length, 19)
})

test('the rate counts the rows since the start, not the rows from before', () => {
  const { state, progress } = shown(true)
  progress.show('copy users', 3000, 5000)
  state.nowMs = 1000
  progress.show('copy users', 4000, 5000)
  assert.match(state.text, /80 % {2}4,000 of 5,000 rows {2}1,000\/s {2}1 s left$/)
})

test('without a terminal there is a line every ten seconds and one at the end, and none for an empty step', () => {
  const { state, progress } = shown(false)
  progress.show('copy keys', 0, 0)
  progress.show('copy users', 0, 100)
  state.nowMs = 9999
  progress.show('copy users', 10, 100)
  state.nowMs = 10_000
  progress.show('copy users', 20, 100)
  state.nowMs = 100_000
  progress.show('copy users', 100, 100)
  assert.equal(
    state.text,
    'svc: copy users   20 %  20 of 100 rows  2/s  40 s left\nsvc: copy users  100 %  100 of 100 rows  in 2 min\n',
  )
})

test('an interrupted step ends its line', () => {
  const { state, progress } = shown(true)
  progress.show('copy users', 10, 100)
  progress.stop()
  assert.match(state.text, /\n$/)
})
