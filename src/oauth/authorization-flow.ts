import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'
import type { ProviderProfile } from './profile.ts'

/** A sign-in at a provider that has begun and not ended yet. */
export interface AuthorizationFlow {
  /** UUID of version 7 */
  id: string
  startedAtMs: number
  /** The provider's name in the settings. */
  provider: string
  /**
   * `link` connects the provider to the user's account; `confirm` re-authenticates the user; `enter` connects it to the
   * account of a link that the user has followed.
   */
  intent: 'sign_in' | 'link' | 'confirm' | 'enter'
  /** Where the browser goes afterwards. */
  returnTo: string
  /** The signed-in user, for `link` and `confirm`. */
  userId?: string | undefined
  /** For `confirm`: `mfa` where the provider alone is not enough. */
  acr?: 'mfa' | undefined
  /** The link, for `enter`. `proved`: the `amr` of a user who has proved the second factor of its account before. */
  entry?: { purpose: string; token: string; proved?: readonly AuthenticationMethod[] | undefined } | undefined
  /** What is connected at the end, where the user proves with this provider that an account is theirs. */
  pendingLink?: PendingLink | undefined
}

export type NewAuthorizationFlow = Omit<AuthorizationFlow, 'id' | 'startedAtMs'>

/** A provider account that is connected to a user's account as soon as its owner proves that the account is theirs. */
export interface PendingLink {
  /** The id of its row in `pending_links`. */
  id: string
  profile: ProviderProfile
  userId: string
  /** The profile counts for ten minutes from then, however often the user tries. */
  profileFetchedAtMs: number
}

/** What the forms of the "link account" page bring back. */
export interface LinkRequest {
  pendingLink: PendingLink
  returnTo: string
}
