/** An external provider to continue with; its form posts to `/auth/oauth/{name}`. */
export interface ProviderView {
  name: string
  label: string
  /** On this origin, or among those that `createPages` was told of, or the policy stops it. */
  iconUrl?: string | undefined
}

/** How a sign-in by a provider can end without a session; `texts.providerProblems` says it in words. */
export type ProviderProblem =
  | 'cancelled'
  | 'refused'
  | 'expired'
  | 'other_browser'
  | 'used'
  | 'unreadable'
  | 'unreachable'
  | 'unverifiable'
  | 'email_missing'
  | 'email_unverified'
  | 'domain_not_allowed'
  | 'signup_closed'
  | 'disabled'
  | 'linked_elsewhere'
  | 'other_account'
  | 'logged_out'
  | 'last_way'
  | 'no_proof'

/** What a person wanted of a provider, where that is not a session. */
export type ProviderIntent = 'link' | 'confirm'

export interface ProviderProblemView {
  csrfToken: string
  returnTo: string | undefined
  provider: ProviderView | undefined
  problem: ProviderProblem
  /** Kept when trying again. */
  intent?: ProviderIntent | undefined
  /** Kept when trying again: what was to be connected when another provider was to prove the account. */
  pending?: string | undefined
  signedIn: boolean
  requestId: string
  /** As the provider says it. */
  email?: string | undefined
  retryAfterSeconds?: number | undefined
}

export interface LinkedView {
  id: string
  label: string
  iconUrl?: string | undefined
  email: string | undefined
  linkedAtMs: number
  /** Not the last way to log in. */
  removable: boolean
}

/** By what one gets into the account. */
export interface SignInView {
  hasPassword: boolean
  /** The session began a short while ago: what could lock its owner out may be done at once. */
  isFresh: boolean
  linked: readonly LinkedView[]
  linkable: readonly ProviderView[]
}
