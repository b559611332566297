/**
 * A client is a program that signs users in by svc's OAuth server (RFC 6749 section 2). `operator`: made by command or
 * by the server API. `registered`: it has registered itself (RFC 7591). `document`: its id is the URL of its metadata.
 */
export type ClientKind = 'operator' | 'registered' | 'document'

/** `web` has a secret (a confidential client); `native` and `browser` have none. */
export type ClientType = 'web' | 'native' | 'browser'

/** Times are in milliseconds since 1970. */
export interface Client {
  id: string
  kind: ClientKind
  type: ClientType
  name: string
  redirectUris: readonly string[]
  /** A logout may lead to these (OpenID Connect RP-Initiated Logout 1.0). */
  logoutUris: readonly string[]
  backchannelLogoutUri: string | undefined
  /** It may ask for these; it is undefined for every scope but `roles`. */
  scopes: readonly string[] | undefined
  /** Its tokens may be for these; it is empty for every resource. */
  resources: readonly string[]
  /** The operator vouches for it: consent is not asked for. */
  firstParty: boolean
  requireMfa: boolean
  createdAtMs: number
  /** It was last given a code then. */
  usedAtMs: number | undefined
  disabledAtMs: number | undefined
}

/** These are SHA-256 hashes of secrets that are good. A public client has none. */
export interface ClientSecrets {
  secretHash: string | undefined
  formerSecretHash: string | undefined
  formerUntilMs: number | undefined
}

/** When the metadata document of a client was last good, and until when it need not be fetched again. */
export interface DocumentTimes {
  fetchedAtMs: number
  freshUntilMs: number
}
