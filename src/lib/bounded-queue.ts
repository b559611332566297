import { AppError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'

/** The current use of a queue. */
export interface QueueLoad {
  running: number
  waiting: number
  /** Number of jobs that were refused since the start because the queue was full. */
  refused: number
}

interface Limits {
  /** Number of jobs that run at the same time. */
  atOnce: number
  /** Number of further jobs that may wait. */
  waiting: number
  /** Message of the error when the queue is full. */
  retryAfterSeconds: number
}

/** The client that a job runs for. */
export interface Caller {
  /** Clients of one network share turns and places. Clients without a network count as one network. */
  network?: string | undefined
  /** Aborts when the client no longer waits for the result. */
  signal?: AbortSignal | undefined
}

/** A job that waits for its turn. */
interface Waiter {
  begin: () => void
  refuse: () => void
}

/**
 * Runs a limited number of jobs at the same time, lets a limited number wait, and refuses the rest with `unavailable`.
 * Networks take turns; jobs of one network run in order of arrival. In a full queue, a new job of a network with fewer
 * jobs replaces the newest job of the network with most. A job whose signal aborts before its turn never runs.
 */
export const createBoundedQueue = ({ atOnce, waiting, retryAfterSeconds }: Limits) => {
  let running = 0
  let refused = 0
  const line = new FairQueue<Waiter>()

  const requirePlace = (network: string): void => {
    if (line.size < waiting) return
    refused += 1
    const displaced = line.evictFor(network)
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
        line.remove(place)
        reject(givenUp())
      }
      const place = line.enqueue(network, {
        begin: settle(resolve),
        refuse: settle(() => reject(busy(retryAfterSeconds))),
      })
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  const passOn = (): void => {
    const next = line.dequeue()
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
