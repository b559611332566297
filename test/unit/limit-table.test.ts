// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LIMIT_NAMES, LIMITS, labelOf } from '../../src/limits/limit-table.ts'

test('of all counts, docs/scaling.md says of the starts of sign-ins with a provider alone that each replica has its own', () => {
  const text = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')
  const [, table = ''] = /^Each replica has its own:\n\n(.*?)\n\n/ms.exec(text) ?? []
  const counts = [...table.matchAll(/^\| (counts? of [^|]*|[^|]*limits?[^|]*) \|/gm)].map(([, name]) => name)
  assert.deepEqual(counts, ['count of starts of sign-ins with a provider'])
})

test('docs/limits.md has the names, figures and keys of all limits of tries, in their order', () => {
  const text = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `([a-z_]+)` \| (\d+) \| (\d+) min \| ([a-z ]+) \|$/gm)].map((row) =>
    row.slice(1).join(' '),
  )
  const built = LIMIT_NAMES.map((name) => {
    const { tries, windowMs, key } = LIMITS[name]
    return `${labelOf(name)} ${tries} ${windowMs / 60_000} ${key}`
  })
  assert.deepEqual(documented, built)
})
