import type { ProviderProfile } from '../profile.ts'

/** One sign-in that was sent to a provider, with what protects its way back. */
export interface AuthorizationRequest {
  /** Where the provider sends the browser to afterwards; compared character by character there. */
  redirectUri: string
  state: string
  /** Comes back in the ID token: it was made for this sign-in (OpenID Connect Core section 3.1.2.1). */
  nonce: string
  /** Proves that who began the sign-in also ends it (RFC 7636). */
  codeVerifier: string
  /** Since when the person must have signed in at the provider, where that is to be anew. */
  freshSinceMs: number | undefined
}

/** Somebody else who knows who people are. */
export interface Provider {
  /** Where to send a browser; `unavailable` when the provider cannot be asked. */
  authorizationUrl(attempt: AuthorizationRequest): Promise<URL>
  /**
   * Whom the provider vouches for, by the parameters that it sent back. Every way in which it does not is an `AppError`
   * with a `SignInProblem` as its reason.
   */
  fetchProfile(answer: URLSearchParams, attempt: AuthorizationRequest): Promise<ProviderProfile>
}
