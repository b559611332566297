// Runs once, alone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createBoundedCache } from '../../src/lib/bounded-cache.ts'

/** A cache with a value for each of these keys, added in their order. */
const holding = (keptEntries: number, keys: string[]) => {
  const cache = createBoundedCache<string>(keptEntries)
  for (const key of keys) cache.set(key, `value of ${key}`)
  return cache
}

describe('a bounded cache', () => {
  test('finds what was set last, and nothing that was deleted or cleared', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    cache.set('b', 'another')
    cache.delete('a')
    assert.deepEqual(['a', 'b', 'c', 'd'].map(cache.get), [undefined, 'another', 'value of c', undefined])
    cache.clear()
    assert.deepEqual(['a', 'b', 'c'].map(cache.get), [undefined, undefined, undefined])
  })

  test('finds the value set last, and nothing once it is deleted, of an entry that was among the older ones', () => {
    const cache = holding(2, ['a', 'b', 'c'])
    cache.set('a', 'another')
    assert.equal(cache.get('a'), 'another')
    cache.delete('a')
    assert.equal(cache.get('a'), undefined)
    cache.delete('b')
    assert.equal(cache.get('b'), undefined)
  })

  test('keeps as many as it promises, and drops what was not used while as many others came', () => {
    const cache = holding(3, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    assert.deepEqual(['a', 'b', 'c'].map(cache.get), [undefined, undefined, undefined])
    assert.equal(['e', 'f', 'g'].every(cache.get), true)
  })

  test('spares an entry that is used', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    for (const key of ['d', 'e', 'f', 'g', 'h', 'i', 'j']) {
      cache.set(key, `value of ${key}`)
      assert.equal(cache.get('a'), 'value of a')
    }
    assert.equal(cache.get('b'), undefined)
  })

  test('an entry that is replaced takes no room of another', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    for (let count = 0; count < 10; count++) cache.set('b', 'value of b')
    assert.equal(['a', 'b', 'c'].every(cache.get), true)
  })

  test('a million keys, a few of them in steady use: holds the limit and keeps those in use', () => {
    const cache = createBoundedCache<number>(1000)
    let missed = 0
    for (let key = 0; key < 1_000_000; key++) {
      cache.set(`once ${key}`, key)
      const steady = `steady ${key % 100}`
      if (cache.get(steady) !== undefined) continue
      missed += 1
      cache.set(steady, key)
    }
    assert.equal(missed, 100, 'each of them is missed once')
    const left = new Set<number>()
    for (let key = 999_999; key >= 0; key--) if (cache.get(`once ${key}`) !== undefined) left.add(key)
    assert.ok(left.size >= 500 && left.size <= 2000, `${left.size} of the others are left`)
  })

  test('takes no more memory the longer keys are deleted and added, or all of them cleared', () => {
    const cache = createBoundedCache<number>(12_000)
    const churn = (count: number): void => {
      for (let key = 0; key < count; key++) {
        cache.delete(`key ${key - 64}`)
        cache.set(`key ${key}`, key)
        if (key % 1000 === 0) cache.clear()
      }
    }
    churn(10_000)
    const beforeMb = heapMb()
    churn(300_000)
    const grownMb = heapMb() - beforeMb
    assert.ok(grownMb < 5, `${grownMb.toFixed(1)} MB more`)
  })
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const heapMb = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1e6
}
