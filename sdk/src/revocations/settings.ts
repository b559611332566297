import { onDemandKey } from '../auth/api-key.ts'

const MODES = ['ask', 'refuse', 'accept'] as const

/** What is done with tokens while it is not known what has ended. */
export type StaleMode = (typeof MODES)[number]

/** How the SDK learns which sessions have ended. */
export interface RevocationOptions {
  /**
   * A key of the server API with the scope `revocations:read`, and for `requireToken` with `tokens:introspect`. Default:
   * the option `apiKey`, or `SVC_API_KEY`.
   */
  apiKey?: string | undefined
  /**
   * While the feed is five seconds behind: `ask` asks svc about each token, `refuse` throws `SvcUnavailableError`, and
   * `accept` goes by the token alone. Default: `ask`.
   */
  stale?: StaleMode | undefined
}

export interface RevocationSettings {
  /** Throws a `TypeError` where it is missing. */
  requireKey(): string
  stale: StaleMode
}

/** Completes the options; undefined where the feed is not wanted. Throws a `TypeError` for one that is wrong. */
export const readRevocations = (
  options: RevocationOptions | undefined,
  apiKey?: string,
): RevocationSettings | undefined => {
  if (options === undefined) return undefined
  if (typeof options !== 'object' || options === null)
    throw new TypeError("revocations must be an object, such as { stale: 'ask' }")
  const { stale = 'ask' } = options
  if (!MODES.includes(stale)) throw new TypeError(`revocations.stale must be one of ${MODES.join(', ')}`)
  return {
    requireKey: onDemandKey(options.apiKey ?? apiKey, options.apiKey === undefined ? 'apiKey' : 'revocations.apiKey'),
    stale,
  }
}
