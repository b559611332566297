// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { drawBudgets } from '../../bench/pictures/budget-picture.ts'
import { drawLimits } from '../../bench/pictures/limits-picture.ts'
import { THEMES } from '../../bench/pictures/theme.ts'
import { ratioRow } from '../../bench/support/report.ts'
import { readResults, render } from '../../bench/support/results.ts'

const [LIGHT] = THEMES
assert.ok(LIGHT)

/** The names of elements that are not closed, or closed in the wrong order. */
const findUnbalanced = (svg: string): string[] => {
  const open: string[] = []
  const wrong: string[] = []
  for (const [, closing, name = '', empty] of svg.matchAll(
    /<(\/?)(\w+)(?:\s[\w:-]+="[^"<>&]*(?:&\w+;[^"<>&]*)*")*(\/?)>/g,
  )) {
    if (closing && open.pop() !== name) wrong.push(name)
    if (!closing && !empty) open.push(name)
  }
  return [...wrong, ...open]
}

/** Attributes of the elements of one kind, in order. */
const attributesOf = (svg: string, name: string): Record<string, string>[] =>
  [...svg.matchAll(new RegExp(`<${name} ([^>]*?)/?>`, 'g'))].map(([, attributes = '']) =>
    Object.fromEntries([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value])),
  )

const REPORT = {
  title: 'Reads & <writes>',
  rows: [
    ratioRow('half', { unit: '/s', svc: [50, 50], baseline: [100, 100], goal: { atLeast: 0.8 } }),
    ratioRow('a quarter', { unit: '/s', svc: [25, 25], baseline: [100, 100], goal: { atLeast: 0.2 } }),
    ratioRow('no goal', { unit: '/s', svc: [1], baseline: [1] }),
    ratioRow('a cost', { unit: 'µs', svc: [2], baseline: [1], goal: { atMost: 1 } }),
  ],
  notes: [],
}

test('each rate with a goal is a bar in proportion, beside its figures', () => {
  const svg = drawLimits([REPORT], LIGHT)
  assert.deepEqual(findUnbalanced(svg), [])
  assert.match(svg, />Reads &amp; &lt;writes&gt;</)
  const [half, quarter, ...others] = attributesOf(svg, 'rect').filter(({ fill }) => fill === LIGHT.svc)
  assert.deepEqual(others, [])
  assert.equal(Number(half?.width), Number(quarter?.width) * 2)
  assert.match(svg, />0\.50<.*\n<text [^>]*>0\.80</)
  assert.match(svg, /<title id="title">.+<\/title>\n<desc id="description">half: 0\.50, goal 0\.80\. a quarter: 0\.25/)
  assert.doesNotMatch(svg, /no goal|a cost/)
})

test('a ratio above the limit fits into the picture', () => {
  const far = ratioRow('far', { unit: '/s', svc: [190], baseline: [100], goal: { atLeast: 1 } })
  const svg = drawLimits([{ ...REPORT, rows: [...REPORT.rows, far] }], LIGHT)
  const ends = attributesOf(svg, 'rect').map(({ x = 0, width }) => Number(x) + Number(width))
  assert.ok(Math.max(...ends) <= 800)
  assert.match(svg, />2<\/text>/)
})

test('a budget has a column for each request, a line for each category in use, and its sums', () => {
  const budgets = [
    { what: 'read', svc: { 'socket write': 6, SQLite: 2 }, bare: { 'socket write': 5 } },
    { what: 'write', svc: { 'socket write': 6, SQLite: 12 }, bare: { 'socket write': 4 } },
  ]
  const svg = drawBudgets(budgets, LIGHT)
  assert.deepEqual(findUnbalanced(svg), [])
  for (const shown of ['read', 'write', 'socket write', 'SQLite', '8.0 µs', '18.0 µs', 'bare 5.0', '12.0']) {
    assert.ok(svg.includes(`>${shown}</text>`), shown)
  }
  assert.doesNotMatch(svg, /cryptography/)
  const widths = attributesOf(svg, 'rect').flatMap(({ fill, height, width }) =>
    fill === LIGHT.svc && height === '10' && width !== '16' ? [Number(width)] : [],
  )
  assert.deepEqual(widths, [56, 56, 18.7, 112])
})

test('bench/README.md and the pictures are what bench/measured.json says', () => {
  for (const [file, content] of render(readResults())) {
    const stored = readFileSync(new URL(`../../bench/${file}`, import.meta.url), 'utf8')
    assert.equal(stored, content, `bench/${file} is stale: run "npm run bench -- NAME"`)
    if (file.endsWith('.svg')) assert.deepEqual(findUnbalanced(stored), [])
  }
})
