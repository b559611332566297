import type { ProviderProfile } from './profile.ts'

/** It is one request to sign in that is sent to a provider, with the values that protect the way back from it. */
export interface AuthorizationRequest {
  /** The provider sends the browser there afterwards; providers compare it character by character. */
  redirectUri: string
  state: string
  /**
   * It returns in the ID token, and shows that the token was made for this request (OpenID Connect Core section
   * 3.1.2.1).
   */
  nonce: string
  /** It proves that the same client began the flow and ends it (RFC 7636). */
  codeVerifier: string
  /** The user must have signed in at the provider since then; undefined when an older sign-in will do. */
  signInNotBeforeMs: number | undefined
}

/** This service knows its users and can say who they are. */
export interface Provider {
  /** Gives the address to send a browser to; it throws `unavailable` when the provider does not answer. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>
  /**
   * Gives the user who signed in at the provider, by the parameters that came with the callback. Every failure is an
   * `AppError` with a `SignInProblem` as its reason.
   */
  fetchProfile(callbackParams: URLSearchParams, request: AuthorizationRequest): Promise<ProviderProfile>
}
