/**
 * Lets callers share the runs of a function: each caller gets the result of a run that began after the call, and only
 * one
 * run is in progress at a time.
 */
export const coalesce = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let underWay: Promise<unknown> | undefined
  let next: Promise<T> | undefined

  const begin = async (): Promise<T> => {
    await underWay?.catch(() => {})
    const run = work()
    underWay = run
    next = undefined
    return run
  }

  return () => {
    next ??= begin()
    return next
  }
}
