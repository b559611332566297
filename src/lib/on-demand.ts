import type { Awaitable } from './awaitable.ts'

type OnDemand<T, Name extends keyof T> = {
  [N in Name]: T[N] extends (...args: infer Args) => Awaitable<infer Result>
    ? (...args: Args) => Promise<Result>
    : never
}

/**
 * Functions, by their names, whose files are loaded with the first call of one of them. For what few requests need: each
 * file that is loaded makes every start longer. What cannot be loaded is tried again with the next call.
 */
export const onDemand = <T extends object, Name extends keyof T & string>(
  load: () => Promise<T>,
  ...names: Name[]
): OnDemand<T, Name> => {
  let loading: Promise<T> | undefined
  const loadOnce = (): Promise<T> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  const callOf =
    (name: Name) =>
    async (...args: unknown[]) => {
      const loaded = (await loadOnce()) as Record<Name, (...args: unknown[]) => unknown>
      return loaded[name](...args)
    }
  return Object.fromEntries(names.map((name) => [name, callOf(name)])) as OnDemand<T, Name>
}
