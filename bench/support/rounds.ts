import type { Run } from './bench.ts'
import { type Client, type Load, load } from './load.ts'

/** One of the servers that are measured in turn, with its results. */
export interface Contestant {
  port: number
  clients: readonly Client[]
  /** Additional load during the measurement. */
  meanwhile: (durationMs: number) => Promise<unknown>
  loads: Load[]
}

export const contestant = (
  { port }: { port: number },
  clients: readonly Client[],
  meanwhile: Contestant['meanwhile'] = () => Promise.resolve(),
): Contestant => ({ port, clients, meanwhile, loads: [] })

/** Responses per second, round by round. */
export const rates = ({ loads }: Contestant): number[] => loads.map(({ ratePerS }) => ratePerS)

const BUSY = 0.9

const measure = async ({ port, clients, meanwhile }: Contestant, durationMs: number): Promise<Load> => {
  const [measured] = await Promise.all([load({ port, clients, durationMs }), meanwhile(durationMs)])
  return measured
}

/** Warms every contestant up, then loads them in turn, A B A B …, for `durationMs` each time. */
export const inTurn = async (
  run: Pick<Run, 'rounds' | 'note'>,
  durationMs: number,
  contestants: readonly Contestant[],
): Promise<void> => {
  for (const each of contestants) await measure(each, durationMs)
  for (let round = 0; round < run.rounds; round++) {
    for (const each of contestants) each.loads.push(await measure(each, durationMs))
  }
  const busiest = Math.max(...contestants.flatMap(({ loads }) => loads.map(({ clientBusy }) => clientBusy)))
  if (busiest > BUSY) run.note(`The load client was ${Math.round(busiest * 100)} % busy: it may have been the limit.`)
}
