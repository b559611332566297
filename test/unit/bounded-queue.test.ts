// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBoundedQueue } from '../../src/lib/bounded-queue.ts'
import type { Caller } from '../../src/lib/caller.ts'
import { AppError } from '../../src/lib/errors.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A queue whose tasks end on request, and the result of each task. */
const create = ({ atOnce = 1, waiting = 100 } = {}) => {
  const queue = createBoundedQueue({ maxRunning: atOnce, maxWaiting: waiting, retryAfterSeconds: 3 })
  const begun: string[] = []
  const ended = new Map<string, string>()
  const running: (() => void)[] = []
  const add = (name: string, caller: Caller = {}): void => {
    const work = () => {
      begun.push(name)
      return new Promise<void>((resolve) => running.push(resolve))
    }
    void queue.run(work, caller).then(
      () => ended.set(name, 'done'),
      (error: unknown) => ended.set(name, error instanceof AppError ? String(error.reason) : String(error)),
    )
  }
  const endOldest = async () => {
    running.shift()?.()
    await settled()
  }
  const endAll = async () => {
    await settled()
    while (running.length > 0) await endOldest()
  }
  return { add, begun, ended, running, endOldest, endAll, load: queue.load, requireRoom: queue.requireRoom }
}

const times = (count: number, action: (index: number) => void): void => {
  for (let index = 1; index <= count; index++) action(index)
}

test('networks take turns, and the tasks of one network run in order of arrival', async () => {
  const { add, begun, endAll } = create()
  times(4, (index) => add(`a${index}`, { network: 'a' }))
  times(2, (index) => add(`b${index}`, { network: 'b' }))
  add('c1', { network: 'c' })
  await endAll()
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

test('a network that returns has the last turn', async () => {
  const { add, begun, endOldest, endAll } = create()
  times(3, (index) => add(`a${index}`, { network: 'a' }))
  add('b1', { network: 'b' })
  await endOldest()
  await endOldest()
  add('c1', { network: 'c' })
  add('b2', { network: 'b' })
  await endAll()
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'c1', 'b2'])
})

test('behind 300 tasks of one network, a task of another network is second in line', async () => {
  const { add, begun, endOldest } = create({ waiting: 300 })
  times(301, (index) => add(`a${index}`, { network: 'a' }))
  add('b', { network: 'b' })
  await endOldest()
  await endOldest()
  assert.deepEqual(begun, ['a1', 'a2', 'b'])
})

test('tasks without a network count as one network', async () => {
  const { add, begun, endAll } = create()
  times(3, (index) => add(`none${index}`))
  add('a', { network: 'a' })
  await endAll()
  assert.deepEqual(begun, ['none1', 'none2', 'a', 'none3'])
})

test('in a full queue the network with the most tasks loses its newest task to a network with fewer', async () => {
  const { add, ended, load } = create({ waiting: 6 })
  times(5, (index) => add(`a${index}`, { network: 'a' }))
  times(2, (index) => add(`b${index}`, { network: 'b' }))
  times(2, (index) => add(`c${index}`, { network: 'c' }))
  await settled()
  assert.deepEqual(
    [...ended],
    [
      ['a5', 'busy'],
      ['a4', 'busy'],
    ],
  )
  for (const network of ['a', 'b', 'c']) add(`${network} more`, { network })
  await settled()
  assert.deepEqual([...ended.keys()].slice(2), ['a more', 'b more', 'c more'], 'each has two places')
  assert.deepEqual(load(), { running: 1, waiting: 6, refused: 5 })
})

test('no task is displaced for a network that would then have as many as the largest', async () => {
  const { add, ended } = create({ waiting: 3 })
  add('running')
  times(2, (index) => add(`a${index}`, { network: 'a' }))
  add('b1', { network: 'b' })
  add('b2', { network: 'b' })
  await settled()
  assert.deepEqual([...ended], [['b2', 'busy']])
})

test('whether there is room can be asked before', async () => {
  const { add, requireRoom, load } = create({ waiting: 3 })
  const isRefused = (network: string): boolean => {
    try {
      requireRoom({ network })
      return false
    } catch (error) {
      return error instanceof AppError && error.reason === 'busy'
    }
  }
  add('running')
  times(2, (index) => add(`a${index}`, { network: 'a' }))
  assert.deepEqual(['a', 'b'].map(isRefused), [false, false])
  add('a3', { network: 'a' })
  assert.deepEqual(['a', 'b'].map(isRefused), [true, false], 'b would take the place of a3')
  add('b1', { network: 'b' })
  assert.deepEqual(['a', 'b', 'c'].map(isRefused), [true, true, false])
  await settled()
  assert.deepEqual(load(), { running: 1, waiting: 3, refused: 4 }, 'a3, and those that asked in vain')
})

test('a refusal says when to retry', async () => {
  const queue = createBoundedQueue({ maxRunning: 1, maxWaiting: 0, retryAfterSeconds: 7 })
  const gate = Promise.withResolvers<void>()
  const first = queue.run(() => gate.promise)
  await assert.rejects(
    queue.run(async () => {}),
    { code: 'unavailable', reason: 'busy', retryAfterSeconds: 7 },
  )
  gate.resolve()
  await first
})

test('a task whose sender leaves before its turn never runs and frees its place; one that has begun is finished', async () => {
  const { add, begun, ended, endAll } = create({ waiting: 2 })
  const [early, late] = [new AbortController(), new AbortController()]
  add('late', { signal: late.signal })
  add('early', { signal: early.signal })
  add('a', { network: 'a' })
  late.abort()
  early.abort()
  await settled()
  assert.deepEqual([...ended], [['early', 'given_up']])
  add('b', { network: 'b' })
  add('gone', { signal: AbortSignal.abort() })
  await endAll()
  assert.deepEqual(begun, ['late', 'a', 'b'])
  assert.equal(ended.get('late'), 'done')
  assert.equal(ended.get('gone'), 'given_up')
})

test('a sender that leaves after being displaced changes nothing', async () => {
  const { add, ended, load } = create({ waiting: 3 })
  const leaving = new AbortController()
  add('running')
  times(2, (index) => add(`a${index}`, { network: 'a' }))
  add('displaced', { network: 'a', signal: leaving.signal })
  add('b', { network: 'b' })
  leaving.abort()
  await settled()
  assert.deepEqual([...ended], [['displaced', 'busy']])
  assert.equal(load().waiting, 3)
})

test('with random arrivals and departures: the limits hold, and no task is lost', async () => {
  const { add, begun, ended, running, endOldest, endAll, load } = create({ atOnce: 3, waiting: 12 })
  const signals: AbortController[] = []
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  let added = 0
  for (let step = 0; step < 5000; step++) {
    const choice = random(10)
    if (choice < 7) {
      const leaving = new AbortController()
      signals.push(leaving)
      // Low numbers are more frequent, so that some networks have many tasks and others few.
      add(`${added++}`, { network: String(Math.min(random(8), random(8))), signal: leaving.signal })
    } else if (choice < 9) await endOldest()
    else signals[random(signals.length || 1)]?.abort()
    await settled()
    assert.ok(running.length <= 3 && load().waiting <= 12)
    assert.ok(load().waiting === 0 || running.length === 3, 'nobody waits without need')
    assert.equal(added - ended.size, running.length + load().waiting, 'nobody is lost')
  }
  await endAll()
  assert.equal(ended.size, added)
  assert.deepEqual(load().waiting + load().running, 0)
  const outcomes = [...ended.values()]
  for (const outcome of ['done', 'busy', 'given_up']) assert.ok(outcomes.includes(outcome), outcome)
  assert.equal(outcomes.filter((outcome) => outcome === 'done').length, begun.length)
  assert.equal(load().refused, outcomes.filter((outcome) => outcome === 'busy').length)
})
