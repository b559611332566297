// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Entry, readEntry } from '../../sdk/src/revocations/entry.ts'
import { createExpiringMap } from '../../sdk/src/revocations/expiring-map.ts'
import { createMemory, type Memory } from '../../sdk/src/revocations/memory.ts'
import { createWatches } from '../../sdk/src/revocations/watches.ts'

const HOUR_S = 3600

const timeAt = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** Entries of a feed whose clock is that of no machine here, at so many hours. */
const at = (hours: number, changes: Record<string, unknown>): Entry => {
  const startS = 4e9 + hours * HOUR_S
  const times = { at: timeAt(startS), expires_at: timeAt(startS + HOUR_S) }
  const entry = readEntry({ type: 'session-revoked', reason: 'logout', user_id: 'user', ...times, ...changes })
  assert.ok(entry)
  return entry
}

const end = (hours: number, sid: string): Entry => at(hours, { session_ids: [sid] })
const replace = (sid: string, by: string, userId = 'user'): Entry =>
  at(0, { session_ids: [sid], reason: 'replaced', replaced_by: by, user_id: userId })
const change = (hours: number, notBefore: number, userId = 'user'): Entry =>
  at(hours, { type: 'token-claims-change', not_before: notBefore, user_id: userId })

const sweepAll = (memory: Memory): void => {
  for (let part = 0; part < 100; part++) memory.sweep()
}

const token = (changes: object = {}) => ({ sub: 'user', sid: 'session', iat: 100, ...changes })

describe('the memory of what has ended', () => {
  test('drops what matters no longer, by the clock of svc, and nothing before', () => {
    const memory = createMemory()
    for (let number = 0; number < 5000; number++) memory.add(end(0, `early-${number}`))
    memory.add(change(0, 200))
    memory.add(end(0.9, 'late'))
    sweepAll(memory)
    assert.ok(memory.hasEnded('early-0') && memory.hasEnded('early-4999') && memory.doubtAbout(token()) !== undefined)
    memory.add(end(1.1, 'later'))
    sweepAll(memory)
    const left = ['early-0', 'early-4999', 'late', 'later'].filter((sid) => memory.hasEnded(sid))
    assert.deepEqual([left, memory.doubtAbout(token())], [['late', 'later'], undefined])
  })

  test('drops nothing because the clock of this machine is ahead', (t) => {
    const memory = createMemory()
    memory.add(end(0, 'session'))
    t.mock.timers.enable({ apis: ['Date'], now: 9e12 })
    sweepAll(memory)
    assert.ok(memory.hasEnded('session'))
  })

  test('looks at a part of a large map at a time, and at all in the end, also at what was added since', () => {
    const map = createExpiringMap<number>((expiryS) => expiryS)
    for (let number = 0; number < 100_000; number++) map.set(String(number), number % 2)
    map.sweep(1)
    assert.ok(map.size > 95_000 && map.size < 100_000)
    map.set('added', 0)
    for (let part = 0; part < 200; part++) map.sweep(1)
    assert.equal(map.size, 50_000)
    assert.ok(!map.has('added') && map.has('1'))
    map.set('added', 0)
    for (let part = 0; part < 200; part++) map.sweep(1)
    assert.ok(!map.has('added'), 'it begins again')
  })

  test('knows the last entry that casts doubt on a token', () => {
    const memory = createMemory()
    assert.equal(memory.doubtAbout(token()), undefined)
    memory.add(change(0, 100))
    memory.add(change(0, 50))
    assert.equal(memory.doubtAbout(token({ iat: 100 })), 2, 'an earlier time does not take back a later one')
    assert.equal(memory.doubtAbout(token({ iat: 101 })), undefined)
    assert.equal(memory.doubtAbout(token({ sub: '__proto__' })), undefined)
    memory.add(at(0, { type: 'sessions-revoked', not_before: 100, user_id: null }))
    assert.equal(memory.doubtAbout(token({ sub: 'other' })), 3)
    assert.equal(memory.count(), 3)
  })

  test('forgets nothing while the feed is read from its beginning, however often that begins', () => {
    const memory = createMemory()
    memory.add(end(0, 'a'))
    memory.add(change(0, 100))
    memory.beginAgain()
    memory.add(end(0, 'b'))
    memory.add(change(0, 200))
    memory.add(at(0, { type: 'sessions-revoked', not_before: 300, user_id: null }))
    memory.beginAgain()
    memory.add(end(0, 'c'))
    const known = () => ['a', 'b', 'c'].filter((sid) => memory.hasEnded(sid))
    assert.deepEqual(known(), ['a', 'b', 'c'])
    assert.ok(memory.doubtAbout(token({ iat: 200 })) && memory.doubtAbout(token({ iat: 300 })))
    memory.complete()
    assert.deepEqual([known(), memory.doubtAbout(token({ iat: 1 }))], [['c'], undefined])
  })
})

const start = (entries: Entry[] = []) => {
  const memory = createMemory()
  const watches = createWatches(memory)
  const ended: string[] = []
  const tell = (entry: Entry): void => {
    memory.add(entry)
    if (entry.type === 'session-revoked') watches.noteEnds(entry)
  }
  entries.forEach(tell)
  return { tell, ended, watch: (sid: string, sub = 'user') => watches.add({ sid, sub }, () => ended.push(sid)) }
}

describe('what waits for the end of a session', () => {
  test('goes on along a chain of replacements, and ends with the last session', () => {
    const { tell, ended, watch } = start([replace('a', 'b')])
    watch('a')
    tell(replace('b', 'c'))
    tell(end(0, 'x'))
    assert.deepEqual(ended, [])
    tell(end(0, 'c'))
    assert.deepEqual(ended, ['a'])
    watch('a')
    assert.deepEqual(ended, ['a', 'a'])
  })

  test('never goes on with the session of another user, after an end of another kind, nor in a circle', () => {
    const reused = at(0, { session_ids: ['e'], reason: 'reused', replaced_by: 'f' })
    const { ended, watch } = start([replace('a', 'b', 'thief'), replace('c', 'd'), replace('d', 'c'), reused])
    for (const sid of ['a', 'c', 'e']) watch(sid)
    assert.deepEqual(ended, ['a', 'c', 'e'])
  })
})
