/**
 * Makes of work one that several callers share: whoever calls gets the result of a run that began after the call, and
 * no more than one is under way.
 */
export const shareRuns = <T>(work: () => Promise<T>): (() => Promise<T>) => {
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
