/**
 * A setting that is read at once, so that a wrong one is an error at once, and again when it is needed: a build loads
 * modules without the environment that they will run in. Throws a `TypeError` when it is needed and missing.
 */
export const onDemand = (read: () => string | undefined, explanation: string): (() => string) => {
  let found = read()
  return () => {
    found ??= read()
    if (found === undefined) throw new TypeError(explanation)
    return found
  }
}
