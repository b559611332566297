import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { MS_A_TICK, processTreeCpuMs } from './cpu-time.ts'

/** What kept the machine busy, apart from the benchmark and its servers: shares of all cores, 0 to 1. */
export interface Disturbance {
  /** Other processes of this machine. */
  others: number
  /** The host, which gave the cores to other machines. */
  stolen: number
}

/** Time since some point in the past, in milliseconds, added up over all cores. */
export interface Times {
  /** All processes. */
  busyMs: number
  stolenMs: number
  /** The benchmark, its servers and its tools. */
  ownMs: number
}

/**
 * The times in the first line of `/proc/stat` (proc(5)). Interrupts are left out: most of them are the load's own
 * network.
 */
export const parseTimes = (stat: string): Omit<Times, 'ownMs'> => {
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * MS_A_TICK)
  return { busyMs: user + nice + system, stolenMs: steal }
}

/** Counts in ticks: a share of less than nothing is the difference of two roundings. */
export const disturbanceBetween = (before: Times, after: Times, allMs: number): Disturbance => ({
  others: Math.max(0, after.busyMs - before.busyMs - (after.ownMs - before.ownMs)) / allMs,
  stolen: Math.max(0, after.stolenMs - before.stolenMs) / allMs,
})

const readTimes = (): Times => ({
  ...parseTimes(readFileSync('/proc/stat', 'utf8')),
  ownMs: processTreeCpuMs(process.pid),
})

/** Only Linux tells what all processes together use, and what the host takes. */
export const canObserve: boolean = process.platform === 'linux'

/** Observes the machine during `action`. */
export const observe = async <T>(action: () => Promise<T>): Promise<{ result: T; disturbance: Disturbance }> => {
  if (!canObserve) return { result: await action(), disturbance: { others: 0, stolen: 0 } }
  const startedMs = performance.now()
  const before = readTimes()
  const result = await action()
  const after = readTimes()
  const allMs = (performance.now() - startedMs) * cpus().length
  return { result, disturbance: disturbanceBetween(before, after, allMs) }
}

const LOOK_MS = 300

/** Observes the machine while the benchmark itself does nothing. */
export const look = async (): Promise<Disturbance> => (await observe(() => wait(LOOK_MS))).disturbance
