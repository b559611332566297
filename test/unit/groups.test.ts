// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroups } from '../../src/lib/turns.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Groups of three, and the names of those who may go on. */
const create = () => {
  const groups = createGroups({ size: 3, maxWaitMs: 50 })
  const gone: string[] = []
  const join = async (...names: string[]) => {
    for (const name of names) void groups.join().then(() => gone.push(name))
    await settled()
  }
  return { join, gone, release: groups.release }
}

test('a group goes on when it is complete, and the next one waits again', async () => {
  const { join, gone } = create()
  await join('a', 'b')
  assert.deepEqual(gone, [])
  await join('c', 'd')
  assert.deepEqual(gone, ['a', 'b', 'c'])
  await join('e', 'f')
  assert.deepEqual(gone, ['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a group that is released goes on', async () => {
  const { join, gone, release } = create()
  release()
  await join('a', 'b')
  release()
  await settled()
  assert.deepEqual(gone, ['a', 'b'])
})

test('the first of a group waits only so long, whenever the others came', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { join, gone } = create()
  await join('a')
  t.mock.timers.tick(40)
  await join('b')
  assert.deepEqual(gone, [])
  t.mock.timers.tick(10)
  await settled()
  assert.deepEqual(gone, ['a', 'b'])
})

test('the time of a group that went on does not count for the next one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { join, gone } = create()
  await join('a', 'b', 'c')
  t.mock.timers.tick(40)
  await join('d')
  t.mock.timers.tick(40)
  await settled()
  assert.deepEqual(gone, ['a', 'b', 'c'])
})
