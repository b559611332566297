/** An external provider to continue with; its form posts to `/auth/oauth/{name}`. */
export interface ProviderView {
  name: string
  label: string
  /** On this origin, or on one that was passed to `createPages`: otherwise the policy blocks it. */
  iconUrl?: string | undefined
}

/** The reasons why a sign-in with a provider can end without a session; `texts.providerProblems` has their texts. */
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
  | 'email_domain_not_accepted'
  | 'email_reserved'
  | 'signup_closed'
  | 'disabled'
  | 'linked_elsewhere'
  | 'other_email'
  | 'other_account'
  | 'logged_out'
  | 'last_way'
  | 'no_proof'

/** The purpose of a visit to a provider, if it is not a sign-in. */
export type ProviderIntent = 'link' | 'confirm'

export interface ProviderProblemView {
  csrfToken: string
  returnTo: string | undefined
  provider: ProviderView | undefined
  problem: ProviderProblem
  /** Kept when trying again. */
  intent?: ProviderIntent | undefined
  /** Kept when trying again: how strong the confirmation must be. */
  acr?: string | undefined
  /** Where there are other ways to confirm. */
  confirmUrl?: string | undefined
  /** Kept when trying again: the link that the user has followed. */
  entry?: { purpose: 'reset' | 'undo' | 'invite'; token: string } | undefined
  /** Kept when trying again: the pending account link, if another provider was to prove ownership of the account. */
  pending?: string | undefined
  signedIn: boolean
  /** Whether a visitor can create an account with a password instead. */
  canSignUp: boolean
  requestId: string
  /** The email that the provider sent. */
  email?: string | undefined
  /** What would be accepted: the domains of which the email must be, or the email of the link. */
  accepted: readonly string[]
  retryAfterSeconds?: number | undefined
}

export interface LinkedView {
  id: string
  label: string
  iconUrl?: string | undefined
  email: string | undefined
  linkedAtMs: number
  /** Whether it may be disconnected: it is not the last way to sign in. */
  removable: boolean
}

/** The ways to sign in to the account. */
export interface SignInView {
  /** Undefined where the service accepts none. */
  hasPassword: boolean | undefined
  /** Whether the session began recently enough for changes that could lock the user out. */
  isRecentlyAuthenticated: boolean
  linked: readonly LinkedView[]
  linkable: readonly ProviderView[]
}
