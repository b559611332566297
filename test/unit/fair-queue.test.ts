// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, type QueueEntry } from '../../src/lib/fair-queue.ts'

/** The same rules, implemented simply and slowly. */
const createModel = () => {
  let groups: { key: string; waiting: number[] }[] = []
  const drop = (value: number): void => {
    for (const group of groups) group.waiting = group.waiting.filter((one) => one !== value)
    groups = groups.filter(({ waiting }) => waiting.length > 0)
  }
  return {
    drop,
    enqueue(key: string, value: number): void {
      const group = groups.find((one) => one.key === key)
      if (group) group.waiting.push(value)
      else groups.push({ key, waiting: [value] })
    },
    dequeue(): number | undefined {
      const [group] = groups
      const value = group?.waiting[0]
      if (!group || value === undefined) return undefined
      groups = [...groups.slice(1), group]
      drop(value)
      return value
    },
    /** The entries that may be evicted: the newest of each of the largest groups. */
    evictable(key: string): number[] {
      const largest = Math.max(0, ...groups.map(({ waiting }) => waiting.length))
      const own = groups.find((one) => one.key === key)?.waiting.length ?? 0
      if (own + 1 >= largest) return []
      return groups.filter(({ waiting }) => waiting.length === largest).map(({ waiting }) => waiting.at(-1) ?? 0)
    },
    size: (): number => groups.reduce((sum, { waiting }) => sum + waiting.length, 0),
  }
}

test('a fair queue follows its rules for any order of arrivals and departures', () => {
  const queue = new FairQueue<number>()
  const model = createModel()
  const entries = new Map<number, QueueEntry<number>>()
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let value = 0; value < 20_000; value++) {
    // Phases with more arrivals than departures, and the reverse.
    const comes = random(10) < (Math.floor(value / 500) % 2 === 0 ? 7 : 3)
    const key = String(Math.min(random(9), random(9)))
    if (comes) {
      entries.set(value, queue.enqueue(key, value))
      model.enqueue(key, value)
    } else if (random(4) === 0) {
      const [gone = value] = [...entries.keys()].slice(random(entries.size || 1))
      const entry = entries.get(gone)
      if (entry) queue.remove(entry)
      model.drop(gone)
      entries.delete(gone)
    } else if (random(3) === 0) {
      const allowed = model.evictable(key)
      const evicted = queue.evictFor(key)
      assert.ok(
        evicted === undefined ? allowed.length === 0 : allowed.includes(evicted),
        `${evicted}: ${allowed.join()}`,
      )
      if (evicted !== undefined) model.drop(evicted)
      entries.delete(evicted ?? -1)
    } else {
      const next = queue.dequeue()
      assert.equal(next, model.dequeue())
      entries.delete(next ?? -1)
    }
    assert.equal(queue.size, model.size())
  }
})
