// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBudget, totalOf } from '../../bench/budget/budget.ts'
import { sortByCategory } from '../../bench/budget/categories.ts'
import { percentile, spread } from '../../bench/support/statistics.ts'

test('native code and general modules belong to the caller; waiting is no time', () => {
  const functions = [
    { id: 1, parent: undefined, name: '(root)', url: '', selfUs: 0 },
    { id: 2, parent: 1, name: '(idle)', url: '', selfUs: 1000 },
    { id: 3, parent: 1, name: '(garbage collector)', url: '', selfUs: 5 },
    { id: 4, parent: 1, name: '(program)', url: '', selfUs: 7 },
    { id: 5, parent: 1, name: 'onRequest', url: 'file:///x/src/http/server.ts', selfUs: 11 },
    { id: 6, parent: 5, name: 'stringify', url: '', selfUs: 13 },
    { id: 7, parent: 5, name: 'from', url: 'node:buffer', selfUs: 17 },
    { id: 8, parent: 5, name: 'updateSession', url: 'file:///x/src/sessions/session-store.ts', selfUs: 19 },
    { id: 9, parent: 8, name: 'run', url: '', selfUs: 23 },
    { id: 10, parent: 5, name: 'write', url: 'node:internal/stream_base_commons', selfUs: 0 },
    { id: 11, parent: 10, name: 'writeLatin1String', url: '', selfUs: 29 },
    { id: 12, parent: 1, name: 'post', url: 'node:inspector', selfUs: 500 },
  ]
  assert.deepEqual(
    sortByCategory(functions),
    new Map([
      ['garbage collection and compilation', 5],
      ['event loop, socket read, HTTP parser', 7],
      ['svc: HTTP', 11 + 13 + 17],
      ['SQLite', 19 + 23],
      ['socket write', 29],
    ]),
  )
})

test('the parts of a budget add up to the processor time of a request', () => {
  const budget = toBudget({
    requests: 10,
    threads: new Map([
      ['main', 300],
      ['garbage collection and compilation', 40],
      ['thread pool: syncs to disk', 60],
    ] as const),
    profile: new Map([
      ['socket write', 2],
      ['garbage collection and compilation', 1],
    ] as const),
  })
  assert.deepEqual(budget, {
    'socket write': 20,
    'garbage collection and compilation': 14,
    'thread pool: syncs to disk': 6,
  })
  assert.equal(totalOf(budget), 40)
})

test('median, extremes and percentiles', () => {
  assert.deepEqual(spread([3, 1, 2]), { median: 2, min: 1, max: 3 })
  assert.equal(spread([4, 1, 2, 3]).median, 2.5)
  assert.equal(percentile([5, 1, 4, 2, 3], 0.99), 5)
  assert.equal(percentile([5, 1, 4, 2, 3], 0.5), 3)
})
