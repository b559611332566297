// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTurns } from '../../src/lib/turns.ts'

test('a few go on in each turn of the event loop, in the order in which they came', async () => {
  const turns = createTurns(2)
  const begun: string[] = []
  const come = async (name: string): Promise<void> => {
    await turns.join()
    begun.push(name)
  }
  const all = ['a', 'b', 'c', 'd', 'e'].map(come)
  await Promise.resolve()
  assert.deepEqual(begun, ['a', 'b'])
  // A caller who comes now waits behind those who came before.
  all.push(come('f'))
  await setImmediate()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  await setImmediate()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'e', 'f'])
  await Promise.all(all)
})

test('one who comes in a new turn does not wait', async () => {
  const turns = createTurns(1)
  for (let turn = 0; turn < 3; turn++) {
    assert.equal(turns.join(), undefined)
    await setImmediate()
  }
  assert.equal(turns.join(), undefined)
  assert.ok(turns.join() instanceof Promise)
})
