import { canObserve, type Disturbance, look, observe } from './machine.ts'

/** Runs rounds of a measurement while nothing else keeps the machine busy. */
export interface QuietRounds {
  /**
   * Waits for a quiet moment, and runs `measure`. If the round was disturbed, it is repeated; if all are, the result is
   * that of the least disturbed one.
   */
  round<T>(measure: () => Promise<T>): Promise<T>
  /** The same for a measurement that cannot be repeated. */
  once<T>(measure: () => Promise<T>): Promise<T>
  /** How busy the machine was during the rounds, in one sentence. */
  describe(): string
}

interface QuietRoundsOptions {
  /** Whether to wait, and to repeat disturbed rounds. */
  isPatient: boolean
  machine?: { look: typeof look; observe: typeof observe; canObserve: boolean }
}

/** The share of all cores above which a round is disturbed. */
const QUIET = 0.06

/** How long one benchmark waits for quiet moments, and how many rounds it repeats: a busy machine ends it all the same. */
const LOOKS_AT_MOST = 150
const REPEATS_AT_MOST = 6

const total = ({ others, stolen }: Disturbance): number => others + stolen

export const createQuietRounds = ({
  isPatient,
  machine = { look, observe, canObserve },
}: QuietRoundsOptions): QuietRounds => {
  const kept: Disturbance[] = []
  let looks = isPatient ? LOOKS_AT_MOST : 0
  let repeats = isPatient ? REPEATS_AT_MOST : 0

  const untilQuiet = async (): Promise<void> => {
    while (looks > 0 && total(await machine.look()) > QUIET) looks -= 1
  }

  const attempt = async <T>(measure: () => Promise<T>) => {
    await untilQuiet()
    return machine.observe(measure)
  }

  const keep = <T>({ result, disturbance }: { result: T; disturbance: Disturbance }): T => {
    kept.push(disturbance)
    return result
  }

  const once = async <T>(measure: () => Promise<T>): Promise<T> => keep(await attempt(measure))

  const round = async <T>(measure: () => Promise<T>): Promise<T> => {
    let best = await attempt(measure)
    for (; total(best.disturbance) > QUIET && repeats > 0; repeats--) {
      const next = await attempt(measure)
      if (total(next.disturbance) < total(best.disturbance)) best = next
    }
    return keep(best)
  }

  const describe = (): string => {
    if (!machine.canObserve) return 'How busy other programs kept the machine is unknown: only Linux tells.'
    if (kept.length === 0) return 'How busy other programs kept the machine was not observed.'
    const disturbed = kept.filter((each) => total(each) > QUIET).length
    const repeated = isPatient ? REPEATS_AT_MOST - repeats : 0
    return [
      `Other programs used ${rangeOf(kept.map(({ others }) => others))} of the cores,`,
      `and the host took ${rangeOf(kept.map(({ stolen }) => stolen))};`,
      `${repeated} of ${kept.length + repeated} rounds were repeated, ${disturbed || 'none'} stayed disturbed.`,
    ].join(' ')
  }

  return { round, once, describe }
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

const rangeOf = (shares: number[]): string => {
  const [least, most] = [percent(Math.min(...shares)), percent(Math.max(...shares))]
  return least === most ? most : `${least} to ${most}`
}
