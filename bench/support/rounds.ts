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

/** Warms every target up, then loads them in turn, A B A B …, for `durationMs` each time. */
export const measureInTurn = async (
  run: Pick<Run, 'rounds' | 'note'>,
  durationMs: number,
  targets: readonly Target[],
): Promise<void> => {
  for (const each of targets) await measure(each, durationMs)
  for (let round = 0; round < run.rounds; round++) {
    for (const each of targets) each.loads.push(await measure(each, durationMs))
  }
  const busiest = Math.max(...targets.flatMap(({ loads }) => loads.map(({ clientBusy }) => clientBusy)))
  if (busiest > BUSY) run.note(`The load client was ${Math.round(busiest * 100)} % busy: it may have been the limit.`)
}
