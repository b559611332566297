import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves to the value of `promise`. Fails with `what` if it takes longer than `seconds`. */
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

/** Checks a condition again and again until it holds. Fails with `what` after a minute. */
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
