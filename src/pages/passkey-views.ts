import type { FieldProblem } from './form-views.ts'

/** A passkey of the account. */
export interface PasskeyView {
  id: string
  name: string
  addedAtMs: number
  lastUsedAtMs: number | undefined
  /** Whether it can be on several devices of the user, and not on one alone. */
  isSynced: boolean
  /** Whether it may be removed: it is not the last way to sign in. */
  removable: boolean
}

/** The passkeys of the account. */
export interface PasskeysView {
  list: readonly PasskeyView[]
  /** Whether the user may change them now, or must sign in again first. */
  isRecentlyAuthenticated: boolean
  /** Whether the page offers to add the first one: the user has just logged in with a password. */
  isOffered: boolean
  /** What the browser is told, so that it offers none of those that were removed (WebAuthn section 5.1.10.3). */
  accepted: { rpId: string; userId: string; allAcceptedCredentialIds: readonly string[] } | undefined
}

/** A new name of a passkey that was refused. */
export interface RefusedNameView {
  id: string
  name: string
  problem: FieldProblem | undefined
}
