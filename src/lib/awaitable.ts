/**
 * The type is a value, or a promise if the value takes time. A value that is there already is used at once: a promise
 * costs a request more than its cookies and its route together.
 */
export type Awaitable<T> = T | Promise<T>

/** Goes on with a value: at once if it is there. */
export const after = <T, Result>(value: Awaitable<T>, use: (value: T) => Awaitable<Result>): Awaitable<Result> =>
  value instanceof Promise ? value.then(use) : use(value)
