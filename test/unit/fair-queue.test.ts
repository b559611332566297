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
    add(key: string, value: number): void {
      const group = groups.find((one) => one.key === key)
      if (group) group.waiting.push(value)
      else groups.push({ key, waiting: [value] })
    },
    takeNext(): number | undefined {
      const [group] = groups
      const value = group?.waiting[0]
      if (!group || value === undefined) return undefined
      groups = [...groups.slice(1), group]
      drop(value)
      return value
    },
    /** The entries that may be displaced: the newest of each of the largest groups. */
    displaceable(key: string): number[] {
      const largest = Math.max(0, ...groups.map(({ waiting }) => waiting.length))
      const own = groups.find((one) => one.key === key)?.waiting.length ?? 0
      if (own + 1 >= largest) return []
      return groups.filter(({ waiting }) => waiting.length === largest).map(({ waiting }) => waiting.at(-1) ?? 0)
    },
    size: (): number => groups.reduce((sum, { waiting }) => sum + waiting.length, 0),
  }
}

test('a fair queue follows its rules for any order of arrivals and departures', () => {
  const line = new FairQueue<number>()
  const model = createModel()
  const places = new Map<number, QueueEntry<number>>()
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
      places.set(value, line.enqueue(key, value))
      model.add(key, value)
    } else if (random(4) === 0) {
      const [gone = value] = [...places.keys()].slice(random(places.size || 1))
      const place = places.get(gone)
      if (place) line.remove(place)
      model.drop(gone)
      places.delete(gone)
    } else if (random(3) === 0) {
      const allowed = model.displaceable(key)
      const displaced = line.evictFor(key)
      assert.ok(
        displaced === undefined ? allowed.length === 0 : allowed.includes(displaced),
        `${displaced}: ${allowed.join()}`,
      )
      if (displaced !== undefined) model.drop(displaced)
      places.delete(displaced ?? -1)
    } else {
      const next = line.dequeue()
      assert.equal(next, model.takeNext())
      places.delete(next ?? -1)
    }
    assert.equal(line.size, model.size())
  }
})
