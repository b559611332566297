import { AppError } from './errors.ts'

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

/**
 * Runs so much work at once, lets so much wait in order of arrival, and refuses the rest with `unavailable`.
 * Work whose signal aborts before its turn leaves the queue and is never done.
 */
export const createBoundedQueue = ({ atOnce, waiting, retryAfterSeconds }: Limits) => {
  let running = 0
  let refused = 0
  const queue = new Set<() => void>()

  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        queue.delete(begin)
        reject(givenUp())
      }
      queue.add(begin)
      signal?.addEventListener('abort', leave, { once: true })
    })

  const passOn = (): void => {
    const [next] = queue
    if (!next) {
      running -= 1
      return
    }
    queue.delete(next)
    next()
  }

  return {
    load: (): QueueLoad => ({ running, waiting: queue.size, refused }),

    async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      if (signal?.aborted) throw givenUp()
      if (running < atOnce) running += 1
      else if (queue.size < waiting) await turn(signal)
      else {
        refused += 1
        throw new AppError('unavailable', 'Too many people are signing in at once.', {
          reason: 'busy',
          retryAfterSeconds,
        })
      }
      try {
        return await work()
      } finally {
        passOn()
      }
    },
  }
}

const givenUp = (): AppError =>
  new AppError('unavailable', 'The request was given up by its sender.', { reason: 'given_up' })
