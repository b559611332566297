import type { SvcUnavailableError } from '../svc-unavailable-error.ts'

/** What an application is told of an outage that is answered in its place. */
export interface OutageOptions {
  /** Called with each failure to ask svc. By default, `console.error` prints one in ten seconds. */
  onUnavailable?: ((error: SvcUnavailableError) => void) | undefined
}

const PRINT_EVERY_MS = 10_000

let printedAtMs: number | undefined

const reasonsOf = (error: unknown): string[] => {
  if (!(error instanceof Error)) return []
  const { code } = error as { code?: string }
  return [error.message || (code ?? error.name), ...reasonsOf(error.cause)]
}

/**
 * The message of an error with those of its causes, which say more: "fetch failed" has the address that refused the
 * connection behind it.
 */
export const reasonOf = (error: unknown): string => reasonsOf(error).join(': ')

/** Prints an outage that is answered in place of the application, once in ten seconds. */
export const printOutage = (error: SvcUnavailableError): void => {
  const nowMs = Date.now()
  if (printedAtMs !== undefined && Math.abs(nowMs - printedAtMs) < PRINT_EVERY_MS) return
  printedAtMs = nowMs
  console.error(`@svc/sdk: ${reasonOf(error)}`)
}
