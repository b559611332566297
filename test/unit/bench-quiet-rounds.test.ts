// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disturbanceBetween, parseTimes } from '../../bench/support/machine.ts'
import { createQuietRounds } from '../../bench/support/quiet-rounds.ts'

const QUIET = { others: 0.01, stolen: 0 }
const BUSY = { others: 0.3, stolen: 0 }
const STOLEN = { others: 0, stolen: 0.2 }

/** Gives these disturbances in turn: to looks, and to rounds. */
const createMachine = ({ looks = [], rounds = [] }: { looks?: (typeof QUIET)[]; rounds?: (typeof QUIET)[] }) => ({
  canObserve: true,
  look: async () => looks.shift() ?? QUIET,
  observe: async <T>(action: () => Promise<T>) => ({ disturbance: rounds.shift() ?? QUIET, result: await action() }),
})

const createCounter = () => {
  let count = 0
  return async () => ++count
}

test('a disturbed round is repeated, whether other processes or the host disturbed it', async () => {
  const { round, describe } = createQuietRounds({ isPatient: true, machine: createMachine({ rounds: [BUSY, STOLEN] }) })
  const measure = createCounter()
  assert.equal(await round(measure), 3)
  assert.equal(await round(measure), 4)
  assert.equal(
    describe(),
    'Other programs used 1 % of the cores, and the host took 0 %; 2 of 4 rounds were repeated, none stayed disturbed.',
  )
})

test('a round waits for a quiet moment', async () => {
  const looks = [BUSY, STOLEN, BUSY, QUIET, BUSY]
  const { round } = createQuietRounds({ isPatient: true, machine: createMachine({ looks }) })
  await round(async () => assert.deepEqual(looks, [BUSY]))
})

test('on a machine that stays busy, the least disturbed attempt counts, and the report says so', async () => {
  const endless = createMachine({
    looks: Array.from({ length: 1000 }, () => BUSY),
    rounds: [BUSY, STOLEN, ...Array.from({ length: 1000 }, () => BUSY)],
  })
  const { round, once, describe } = createQuietRounds({ isPatient: true, machine: endless })
  const measure = createCounter()
  assert.equal(await round(measure), 2)
  assert.equal(await round(measure), 8)
  assert.equal(await once(measure), 9)
  assert.equal(
    describe(),
    'Other programs used 0 % to 30 % of the cores, and the host took 0 % to 20 %; ' +
      '6 of 9 rounds were repeated, 3 stayed disturbed.',
  )
})

test('a smoke run neither waits nor repeats', async () => {
  const looks = [BUSY]
  const machine = createMachine({ looks, rounds: [BUSY, QUIET] })
  const { round, describe } = createQuietRounds({ isPatient: false, machine })
  assert.equal(await round(createCounter()), 1)
  assert.deepEqual(looks, [BUSY])
  assert.match(describe(), /0 of 1 rounds were repeated, 1 stayed disturbed/)
})

test('where the system does not tell, the report says that it is unknown', () => {
  const machine = { ...createMachine({}), canObserve: false }
  assert.match(createQuietRounds({ isPatient: true, machine }).describe(), /unknown/)
})

test('the share of others is what all processes used without our own; stolen time is counted apart', () => {
  const before = { ...parseTimes('cpu  100 10 50 7000 30 20 10 5 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n'), ownMs: 300 }
  const after = { ...parseTimes('cpu  180 20 110 7000 30 90 90 25 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n'), ownMs: 1300 }
  assert.deepEqual(disturbanceBetween(before, after, 2000), { others: 0.25, stolen: 0.1 })
  assert.deepEqual(disturbanceBetween(before, { ...before, ownMs: 310 }, 2000), { others: 0, stolen: 0 })
})
