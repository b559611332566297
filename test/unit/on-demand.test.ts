// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDemand } from '../../src/lib/on-demand.ts'
import { partsOf } from '../../src/web/rows.ts'

test('is loaded once, with the first call', async () => {
  let loads = 0
  const { add, name } = onDemand(
    async () => {
      loads += 1
      return { add: (a: number, b: number) => a + b, name: async () => 'calculator', other: 1 }
    },
    'add',
    'name',
  )
  assert.equal(loads, 0)
  assert.deepEqual(await Promise.all([add(1, 2), add(2, 3), name()]), [3, 5, 'calculator'])
  assert.equal(loads, 1)
})

test('is loaded again after a failure, as when no file can be opened for a moment', async () => {
  let loads = 0
  const { greet } = onDemand(async () => {
    loads += 1
    if (loads === 1) throw new Error('EMFILE')
    return { greet: () => 'hello' }
  }, 'greet')
  await assert.rejects(async () => greet(), /EMFILE/)
  assert.equal(await greet(), 'hello')
})

test('a refusal by the function itself is no failure to load', async () => {
  let loads = 0
  const { refuse } = onDemand(async () => {
    loads += 1
    return {
      refuse(): never {
        throw new TypeError('no')
      },
    }
  }, 'refuse')
  await assert.rejects(refuse(), TypeError)
  await assert.rejects(refuse(), TypeError)
  assert.equal(loads, 1)
})

test('modules of rows that are made together are made once, whatever row is asked for', async () => {
  let loads = 0
  const part = partsOf(async () => ({ one: 1, two: 2, load: (loads += 1) }))
  const [one, two] = [part('one'), part('two')]
  assert.equal(loads, 0)
  assert.deepEqual([await one(), await two(), one(), loads], [1, 2, 1, 1])
})
