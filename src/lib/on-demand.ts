import type { Awaitable } from './awaitable.ts'

type OnDemand<T, Name extends keyof T> = {
  [N in Name]: T[N] extends (...args: infer Args) => Awaitable<infer Result>
    ? (...args: Args) => Promise<Result>
    : never
}

/**
 * Creates a subject whose files are loaded with the first call of one of its functions; `onDemand` does so for some of
 * them. `known` needs no file. The functions of the subject cannot be listed or spread.
 */
export const loadedOnDemand = <T extends object, Known extends object = object>(
  load: () => Promise<T>,
  known?: Known,
): OnDemand<T, keyof T> & Known => {
  const loadedOnce = once(load)
  const callOf =
    (name: string) =>
    async (...args: unknown[]) => {
      const loaded = (await loadedOnce()) as Record<typeof name, (...args: unknown[]) => unknown>
      const call = loaded[name]
      if (!call) throw new TypeError(`nothing that was loaded is called ${name}`)
      return call(...args)
    }
  const get = (target: object, name: string) => {
    // An object with a `then` would be taken for a promise.
    if (name === 'then') return undefined
    return name in target ? Reflect.get(target, name) : callOf(name)
  }
  return new Proxy(known ?? {}, { get }) as OnDemand<T, keyof T> & Known
}

/** Loads something with the first call, and hands it to all. A failure is tried again with the next call. */
export const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/**
 * Makes functions, by their names, that load their files with the first call of one of them. Each file that is loaded
 * before the service listens makes every start longer.
 */
export const onDemand = <T extends object, Name extends keyof T & string>(
  load: () => Promise<T>,
  ...names: Name[]
): OnDemand<T, Name> => {
  const loadedOnce = once(load)
  const callOf =
    (name: Name) =>
    async (...args: unknown[]) => {
      const loaded = (await loadedOnce()) as Record<Name, (...args: unknown[]) => unknown>
      return loaded[name](...args)
    }
  return Object.fromEntries(names.map((name) => [name, callOf(name)])) as OnDemand<T, Name>
}
