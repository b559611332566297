// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createBoundedCache } from '../../src/lib/bounded-cache.ts'

/** A cache with a value for each of these keys, added in their order. */
const holding = (maxEntries: number, keys: string[]) => {
  const cache = createBoundedCache<string>(maxEntries)
  for (const key of keys) cache.set(key, `value of ${key}`)
  return cache
}

const ALL = 'abcdefghijklmnopqrstuvwxyz'.split('')

const held = (cache: ReturnType<typeof holding>): string =>
  ALL.filter((key) => cache.get(key) === `value of ${key}`).join('')

describe('a bounded cache', () => {
  test('finds what was set last, and nothing that was deleted or cleared', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    cache.set('b', 'another')
    cache.delete('a')
    assert.deepEqual(['a', 'b', 'c', 'd'].map(cache.get), [undefined, 'another', 'value of c', undefined])
    cache.clear()
    assert.equal(held(cache), '')
  })

  test('drops the oldest entry for a new one', () => {
    assert.equal(held(holding(3, ['a', 'b', 'c', 'd'])), 'bcd')
    assert.equal(held(holding(3, ALL)), 'xyz')
  })

  test('spares an entry that was used, once for each use', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    cache.get('a')
    cache.set('d', 'value of d')
    cache.set('e', 'value of e')
    cache.set('f', 'value of f')
    assert.equal(held(cache), 'def', '"a" outlives "b", and goes after "c"')
  })

  test('drops the oldest when all were used', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    assert.equal(held(cache), 'abc')
    cache.set('d', 'value of d')
    assert.equal(held(cache), 'bcd')
  })

  test('an entry that is replaced takes no room of another', () => {
    const cache = holding(3, ['a', 'b', 'c'])
    for (let count = 0; count < 10; count++) cache.set('b', 'value of b')
    assert.equal(held(cache), 'abc')
  })

  test('goes on after it was cleared in the middle of a round', () => {
    const cache = holding(3, ['a', 'b', 'c', 'd'])
    cache.clear()
    for (const key of ['e', 'f', 'g', 'h', 'i']) cache.set(key, `value of ${key}`)
    assert.equal(held(cache), 'ghi')
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
    assert.ok(missed <= 200, `${missed} reads of keys in steady use found nothing`)
    let left = 0
    for (let key = 0; key < 1_000_000; key++) if (cache.get(`once ${key}`) !== undefined) left += 1
    assert.ok(left > 0 && left <= 1000, `${left} of the others are left`)
  })
})
