// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LIMITS } from '../../src/limits/limit-table.ts'

test('docs/operate.md has the names, figures and keys of all limits of tries, in their order', () => {
  const text = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `([a-z_]+)` \| (\d+) \| (\d+) min \| ([a-z ]+) \|$/gm)].map((row) =>
    row.slice(1).join(' '),
  )
  const built = Object.entries(LIMITS).map(([name, { tries, windowMs, key }]) => {
    const label = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return `${label} ${tries} ${windowMs / 60_000} ${key}`
  })
  assert.deepEqual(documented, built)
})
