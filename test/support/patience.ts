import { setTimeout as sleep } from 'node:timers/promises'

/** The value of `promise`, or a failure that says `what` was waited for when it takes longer than so many seconds. */
export const within = async <T>(seconds: number, what: string, promise: Promise<T>): Promise<T> => {
  const patience = new AbortController()
  const tooLong = sleep(seconds * 1000, undefined, { signal: patience.signal }).then(() => {
    throw new Error(`${what}: not within ${seconds} s`)
  })
  tooLong.catch(() => {})
  try {
    return await Promise.race([promise, tooLong])
  } finally {
    patience.abort()
  }
}

/** Looks again and again until it holds; a failure that says `what` was waited for after a minute. */
export const eventually = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  everyMs = 100,
): Promise<void> => {
  const deadline = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within a minute`)
    await sleep(everyMs)
  }
}
