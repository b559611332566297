interface Runtime {
  process?: { env?: Record<string, string | undefined> }
  navigator?: { userAgent?: string }
}

const runtime = globalThis as Runtime

// Not every runtime has an environment, and one may refuse to show it.
const attempt = <Result>(read: () => Result): Result | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** A variable of the environment; undefined for an empty one, and where there is no environment. */
export const readVariable = (name: string): string | undefined =>
  attempt(() => runtime.process?.env?.[name]) || undefined

// Cloudflare Workers have no machine of their own, and before 2025-04-01 nothing in `process.env`.
const hasEnvironment = (): boolean =>
  runtime.navigator?.userAgent !== 'Cloudflare-Workers' &&
  Object.keys(attempt(() => runtime.process?.env) ?? {}).length > 0

/** Whether the program runs where it is written, so that svc is on the same machine. */
export const isDevelopment = (): boolean =>
  attempt(() => hasEnvironment() && readVariable('NODE_ENV') !== 'production') ?? false
