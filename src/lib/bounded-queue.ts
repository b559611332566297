import type { Caller } from './caller.ts'
import { AppError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'

/** The load says how busy a queue is at the moment. */
export interface QueueLoad {
  running: number
  waiting: number
  /** This counts the jobs that were refused since the start because the queue was full. */
  refused: number
}

interface QueueLimits {
  /** So many jobs run at the same time. */
  maxRunning: number
  /** So many further jobs may wait. */
  maxWaiting: number
  /** The error of a full queue says when to retry. */
  retryAfterSeconds: number
}

export interface BoundedQueue {
  load(): QueueLoad
  /** Throws `unavailable` where `run` would at this moment, so that nothing is done in vain before it. */
  requireRoom(caller: Caller): void
  /** Runs a job in its turn; throws `unavailable` when the queue is full, or the signal aborts before. */
  run<T>(job: () => Promise<T>, caller?: Caller): Promise<T>
}

interface Waiter {
  start: () => void
  refuse: () => void
}

/**
 * Runs a limited number of jobs at the same time, lets a limited number wait, and refuses the rest with `unavailable`.
 * Networks take turns; jobs of one network run in order of arrival. In a full queue, a new job of a network with fewer
 * jobs replaces the newest job of the network with most. A job whose signal aborts before its turn never runs.
 */
export const createBoundedQueue = ({ maxRunning, maxWaiting, retryAfterSeconds }: QueueLimits): BoundedQueue => {
  let running = 0
  let refused = 0
  const queue = new FairQueue<Waiter>()

  const refuse = (): never => {
    refused += 1
    throw busy(retryAfterSeconds)
  }

  const makeRoom = (network: string): void => {
    if (queue.size < maxWaiting) return
    const evicted = queue.evictFor(network) ?? refuse()
    refused += 1
    evicted.refuse()
  }

  const waitForTurn = ({ network = '', signal }: Caller): Promise<void> => {
    makeRoom(network)
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => () => {
        signal?.removeEventListener('abort', giveUp)
        outcome()
      }
      const giveUp = (): void => {
        queue.remove(entry)
        reject(givenUp())
      }
      const entry = queue.enqueue(network, {
        start: settle(resolve),
        refuse: settle(() => reject(busy(retryAfterSeconds))),
      })
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** The next job takes the place of the one that ended, so `running` stays the same. */
  const startNext = (): void => {
    const next = queue.dequeue()
    if (next) next.start()
    else running -= 1
  }

  return {
    load: () => ({ running, waiting: queue.size, refused }),

    requireRoom({ network = '' }) {
      if (running >= maxRunning && queue.size >= maxWaiting && !queue.canEvictFor(network)) refuse()
    },

    async run(job, caller = {}) {
      if (caller.signal?.aborted) throw givenUp()
      if (running < maxRunning) running += 1
      else await waitForTurn(caller)
      try {
        return await job()
      } finally {
        startNext()
      }
    },
  }
}

const busy = (retryAfterSeconds: number): AppError =>
  new AppError('unavailable', 'Too many people are signing in at once.', { reason: 'busy', retryAfterSeconds })

const givenUp = (): AppError =>
  new AppError('unavailable', 'The request was given up by its sender.', { reason: 'given_up' })
