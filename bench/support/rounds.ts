import type { Run } from './bench.ts'
import { type Client, type Load, load } from './load.ts'

/** One of the servers that are measured in turn, with its results. */
export interface Target {
  port: number
  clients: readonly Client[]
  /** Additional load during the measurement. */
  background: (durationMs: number) => Promise<unknown>
  loads: Load[]
}

export const createTarget = (
  { port }: { port: number },
  clients: readonly Client[],
  background: Target['background'] = () => Promise.resolve(),
): Target => ({ port, clients, background, loads: [] })

/** Responses per second, round by round. */
export const rates = ({ loads }: Target): number[] => loads.map(({ ratePerS }) => ratePerS)

const BUSY = 0.9

const measure = async ({ port, clients, background }: Target, durationMs: number): Promise<Load> => {
  const [measured] = await Promise.all([load({ port, clients, durationMs }), background(durationMs)])
  return measured
}

/** A machine's speed drifts within seconds: the shorter the turns, the more alike are the conditions of both sides. */
const SLICES = 4

/** For each target, its loads. */
const measureSlices = async (targets: readonly Target[], durationMs: number): Promise<Load[][]> => {
  const loads: Load[][] = targets.map(() => [])
  for (let slice = 0; slice < SLICES; slice++) {
    for (const [at, each] of targets.entries()) loads[at]?.push(await measure(each, durationMs))
  }
  return loads
}

/** Several loads of the same length as one. */
const combine = (loads: readonly Load[]): Load => {
  const add = (figure: keyof Load): number => loads.reduce((sum, load) => sum + load[figure], 0)
  return {
    requests: add('requests'),
    ratePerS: add('ratePerS') / loads.length,
    clientBusy: add('clientBusy') / loads.length,
  }
}

/**
 * Warms every target up, then loads them in turn, A B A B …, at quiet moments. In each round, each target gets
 * `durationMs`, divided into slices.
 */
export const measureInTurn = async (
  run: Pick<Run, 'rounds' | 'round' | 'note'>,
  durationMs: number,
  targets: readonly Target[],
): Promise<void> => {
  for (const each of targets) await measure(each, durationMs)
  for (let round = 0; round < run.rounds; round++) {
    const loads = await run.round(() => measureSlices(targets, durationMs / SLICES))
    for (const [at, each] of targets.entries()) each.loads.push(combine(loads[at] ?? []))
  }
  const busiest = Math.max(...targets.flatMap(({ loads }) => loads.map(({ clientBusy }) => clientBusy)))
  if (busiest > BUSY) run.note(`The load client was ${Math.round(busiest * 100)} % busy: it may have been the limit.`)
}
