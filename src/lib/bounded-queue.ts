import { AppError } from './errors.ts'
import { FairLine } from './fair-line.ts'

/** How a queue is used at this moment. */
export interface QueueLoad {
  running: number
  waiting: number
  /** How many were refused since the start for want of a place. */
  refused: number
}

interface Limits {
  /** How many pieces of work run at once. */
  atOnce: number
  /** How many more may wait. */
  waiting: number
  /** Told to whoever comes when no place is left. */
  retryAfterSeconds: number
}

/** For whom work is done. */
export interface Caller {
  /** Shares its turns and places with all of this network. Left out: with all others that have none. */
  network?: string | undefined
  /** Aborts when nobody waits for the result any more. */
  signal?: AbortSignal | undefined
}

/** One who waits for a turn. */
interface Waiter {
  begin: () => void
  refuse: () => void
}

/**
 * Runs so much work at once, lets so much wait, and refuses the rest with `unavailable`. Networks take turns, and those of
 * one network come in order of arrival. When all places are taken, a newcomer of a network that has fewer gets the place
 * of the newest of the network that has most. Work whose signal aborts before its turn leaves the queue and is never done.
 */
export const createBoundedQueue = ({ atOnce, waiting, retryAfterSeconds }: Limits) => {
  let running = 0
  let refused = 0
  const line = new FairLine<Waiter>()

  const requirePlace = (network: string): void => {
    if (line.size < waiting) return
    refused += 1
    const displaced = line.displaceFor(network)
    if (!displaced) throw busy(retryAfterSeconds)
    displaced.refuse()
  }

  const turn = ({ network = '', signal }: Caller): Promise<void> => {
    requirePlace(network)
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => () => {
        signal?.removeEventListener('abort', giveUp)
        outcome()
      }
      const giveUp = (): void => {
        line.leave(place)
        reject(givenUp())
      }
      const place = line.add(network, {
        begin: settle(resolve),
        refuse: settle(() => reject(busy(retryAfterSeconds))),
      })
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  const passOn = (): void => {
    const next = line.takeNext()
    if (next) next.begin()
    else running -= 1
  }

  return {
    load: (): QueueLoad => ({ running, waiting: line.size, refused }),

    async run<T>(work: () => Promise<T>, caller: Caller = {}): Promise<T> {
      if (caller.signal?.aborted) throw givenUp()
      if (running < atOnce) running += 1
      else await turn(caller)
      try {
        return await work()
      } finally {
        passOn()
      }
    },
  }
}

const busy = (retryAfterSeconds: number): AppError =>
  new AppError('unavailable', 'Too many people are signing in at once.', { reason: 'busy', retryAfterSeconds })

const givenUp = (): AppError =>
  new AppError('unavailable', 'The request was given up by its sender.', { reason: 'given_up' })
