import type { ProviderProfile } from '../profile.ts'

/** One request to sign in that is sent to a provider, with what protects the way back from it. */
export interface AuthorizationRequest {
  /** The provider sends the browser there afterwards; providers compare it character by character. */
  redirectUri: string
  state: string
  /**
   * Returns in the ID token, which shows that the token was made for this request (OpenID Connect Core section
   * 3.1.2.1).
   */
  nonce: string
  /** Proves that the same client began the flow and ends it (RFC 7636). */
  codeVerifier: string
  /** The user must have signed in at the provider since then; undefined when an older sign-in will do. */
  signInNotBeforeMs: number | undefined
}

/** A service that knows its users and can say who they are. */
export interface Provider {
  /** Where to send a browser; `unavailable` when the provider does not answer. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>
  /**
   * The user who signed in at the provider, by the parameters that came with the callback. Every failure is an
   * `AppError` with a `SignInProblem` as its reason.
   */
  fetchProfile(callbackParams: URLSearchParams, request: AuthorizationRequest): Promise<ProviderProfile>
}
