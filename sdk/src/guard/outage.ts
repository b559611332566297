import type { SvcUnavailableError } from '../svc-unavailable-error.ts'

/** What an application is told of an outage that is answered in its place. */
export interface OutageOptions {
  /** Called with each failure to ask svc. By default, `console.error` prints one in ten seconds. */
  onUnavailable?: ((error: SvcUnavailableError) => void) | undefined
}

const PRINT_EVERY_MS = 10_000

let printedAtMs: number | undefined

// The messages of the causes say more: "fetch failed" has the address that refused the connection behind it.
const reasonsOf = (error: unknown): string[] => {
  if (!(error instanceof Error)) return []
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return [error.message || code, ...reasonsOf(error.cause)]
}

/** Prints an outage that is answered in place of the application, once in ten seconds. */
export const printOutage = (error: SvcUnavailableError): void => {
  const nowMs = Date.now()
  if (printedAtMs !== undefined && Math.abs(nowMs - printedAtMs) < PRINT_EVERY_MS) return
  printedAtMs = nowMs
  console.error(`@svc/sdk: ${reasonsOf(error).join(': ')}`)
}
