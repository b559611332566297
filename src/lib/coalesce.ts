/**
 * Lets callers share the runs of a function. Each caller gets the result of a run that began after the call, and one
 * run is in progress at a time.
 */
export const coalesce = <T>(run: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<unknown> | undefined
  let next: Promise<T> | undefined

  const runNext = async (): Promise<T> => {
    await current?.catch(() => {})
    const result = run()
    current = result
    next = undefined
    return result
  }

  return () => {
    next ??= runNext()
    return next
  }
}
