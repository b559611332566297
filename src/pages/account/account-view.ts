import type { AccountDone } from '../site/account-done.ts'
import type { FieldProblem, FormView } from '../site/form-view.ts'
import type { PasskeyView } from '../site/passkey-button.ts'
import type { LinkedView, ProviderView } from '../site/providers.ts'
import type { ActivityView } from './account-activity.ts'

/** The ways to sign in to the account. */
export interface SignInView {
  /** Undefined where the service accepts none. */
  hasPassword: boolean | undefined
  /** Whether the session began recently enough for changes that could lock the user out. */
  isRecentlyAuthenticated: boolean
  linked: readonly LinkedView[]
  linkable: readonly ProviderView[]
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

/** The section of the account page. */
export interface SecondFactorSectionView {
  csrfToken: string
  /** In how many browsers no code is asked for. */
  trustedBrowsers: number
  /** Undefined where codes are switched off. */
  hasApp: boolean | undefined
  /** Undefined where there is nothing that they could stand for. */
  recoveryCodes: number | undefined
}

/** The email on the account page. */
interface AccountEmailView {
  email: {
    isVerified: boolean
    /** The address that waits to be confirmed. */
    requested?: string | undefined
    /** Whether the address can be changed: a link is sent to the new one. */
    mailIsOn: boolean
    /** Whether svc sends messages by which it is confirmed. */
    canConfirm: boolean
    isRecentlyAuthenticated: boolean
  }
  /** The content of the field for another address. */
  newEmail: { value: string; error?: FieldProblem | undefined }
}

export interface SessionView {
  id: string
  userAgent: string
  address: string
  createdAtMs: number
  lastSeenAtMs: number
  current: boolean
}

export interface AccountView extends FormView, AccountEmailView {
  user: { email: string; username: string; createdAtMs: number }
  nowMs: number
  sessions: readonly SessionView[]
  /** Number of further sessions that are not listed. */
  moreSessions: number
  done?: AccountDone | undefined
  /** The section that says what was done, or what is wrong; what is none: as `done` says, else the top of the page. */
  at?: string | undefined
  /** `value` is the content of the field: the username, or the text that was typed. Undefined without usernames. */
  username?: { value: string; error?: FieldProblem | undefined } | undefined
  /** Undefined where the service accepts none. */
  password?:
    | { errors: { current_password?: FieldProblem | undefined; new_password?: FieldProblem | undefined } }
    | undefined
  /**
   * Its form is collapsed unless it is open, or has an error. `isBehindConfirmation`: there is none before the user has
   * confirmed that it is them.
   */
  deletion: { error?: FieldProblem | undefined; isOpen?: boolean; isBehindConfirmation?: boolean }
  /** Undefined if no provider is configured and none is connected. */
  signIn?: SignInView | undefined
  /** Undefined where there are none. */
  passkeys?: PasskeysView | undefined
  /** Undefined where there is nothing to set up, and nothing set up. */
  secondFactor?: SecondFactorSectionView | undefined
  refusedPasskeyName?: RefusedNameView | undefined
  /** The latest first. */
  activity: readonly ActivityView[]
}

/** The field that is wrong. */
export type Focus = 'email' | 'username' | 'current_password' | 'new_password' | 'password' | 'name' | undefined

/** The first field that is wrong. */
export const focusOf = ({ newEmail, username, password, refusedPasskeyName, deletion }: AccountView): Focus => {
  if (newEmail.error) return 'email'
  if (username?.error) return 'username'
  if (password?.errors.current_password) return 'current_password'
  if (password?.errors.new_password) return 'new_password'
  if (refusedPasskeyName?.problem) return 'name'
  return deletion.error ? 'password' : undefined
}
