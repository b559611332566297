import type { ApplicationView } from './applications-section.ts'
import type { SignInView } from '../sign-in/ways-in.ts'
import type { AccountDone, RowId } from '../site/account-done.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import type { PasskeyView } from '../site/passkey-button.ts'
import type { NameView } from '../site/person-name.ts'

export interface PasskeysView {
  list: readonly PasskeyView[]
  /** This tells whether the user may change them now, or must sign in again first. */
  isRecentlyAuthenticated: boolean
  /**
   * The page offers to add the first one to a user who has just logged in with a password, or by mail; after the
   * latter, once a month.
   */
  offer: 'after_password' | 'after_mail' | undefined
  /** The browser gets this list, so that it offers no passkey that was removed (WebAuthn section 5.1.10.3). */
  accepted: { rpId: string; userId: string; allAcceptedCredentialIds: readonly string[] } | undefined
}

/** A new name of a passkey that was refused. */
interface RefusedNameView {
  id: string
  name: string
  problem: FieldProblem | undefined
}

export interface SecondFactorSectionView {
  csrfToken: string
  /** This counts the browsers in which no code is asked for. */
  trustedBrowsers: number
  /** It is undefined if codes are switched off. */
  hasApp: boolean | undefined
  /** It is undefined if there is nothing that recovery codes could stand for. */
  recoveryCodes: number | undefined
}

interface AccountEmailView {
  email: {
    isVerified: boolean
    /** This is the address that waits to be confirmed. */
    requested?: string | undefined
    /** This tells whether the address can be changed: a link is sent to the new one. */
    mailIsOn: boolean
    /** This tells whether svc sends messages that confirm an address. */
    canConfirm: boolean
    isRecentlyAuthenticated: boolean
  }
  /** This is the content of the field for another address. */
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

/** The account page shows an event of a user's account in this form. */
export interface ActivityView {
  /** This is the name of the record (docs/audit.md). */
  type: string
  atMs: number
  by: 'user' | 'operator' | 'service'
  /** It is undefined if the user did not do it, or if it is not known. */
  userAgent: string | undefined
  address: string | undefined
  /** This is `password`, `passkey`, `code`, `recovery_code`, `link`, `invitation`, or the label of a provider. */
  method: string | undefined
  /** This is the name of a client, which it may have chosen itself. */
  application: string | undefined
  /** This says why a proof was refused. */
  reason: string | undefined
  /** This counts equal events; it is 1 for most. */
  count: number
  /** This tells whether it is the session of the request. */
  isCurrent: boolean
}

export interface AccountView extends FormView, AccountEmailView {
  user: { email: string; username: string; name?: string | null | undefined; createdAtMs: number }
  nowMs: number
  sessions: readonly SessionView[]
  /** This counts the sessions that are not listed. */
  moreSessions: number
  done?: AccountDone | undefined
  /**
   * This section says what was done, or what is wrong. If there is no such section, the one that `done` names says so,
   * else the top of the page.
   */
  at?: string | undefined
  /**
   * `value` is the content of the field: the username, or the text that was typed. It is undefined if there are no
   * usernames.
   */
  username?: { value: string; error?: FieldProblem | undefined } | undefined
  /** This says whether the user may download their data now, or must sign in again first. */
  data: { isRecentlyAuthenticated: boolean }
  /** It is undefined if there are no names. */
  name?: NameView | undefined
  /** It is undefined if the service accepts no passwords. */
  password?:
    | { errors: { current_password?: FieldProblem | undefined; new_password?: FieldProblem | undefined } }
    | undefined
  /**
   * The form is collapsed unless it is open, or has an error. `isBehindConfirmation` says that there is no form before
   * the user has confirmed that it is them.
   */
  deletion: { error?: FieldProblem | undefined; isOpen?: boolean; isBehindConfirmation?: boolean }
  /** It is undefined if no provider is configured and none is connected. */
  signIn?: SignInView | undefined
  /** It is undefined if there are no passkeys. */
  passkeys?: PasskeysView | undefined
  /** It is undefined if nothing is set up, and nothing can be. */
  secondFactor?: SecondFactorSectionView | undefined
  refusedPasskeyName?: RefusedNameView | undefined
  /** These clients have access to the account. It is undefined if the OAuth server is off. */
  applications?: readonly ApplicationView[] | undefined
  /** The latest event comes first. */
  activity: readonly ActivityView[]
}

/** This is the field that is wrong. */
export type Focus =
  | 'email'
  | 'username'
  | 'current_password'
  | 'new_password'
  | 'password'
  | 'name'
  | 'passkey_name'
  | undefined

/** Finds the first field that is wrong. */
export const focusOf = ({ newEmail, username, name, password, refusedPasskeyName, deletion }: AccountView): Focus => {
  if (newEmail.error) return 'email'
  if (name?.problem) return 'name'
  if (username?.error) return 'username'
  if (password?.errors.current_password) return 'current_password'
  if (password?.errors.new_password) return 'new_password'
  if (refusedPasskeyName?.problem) return 'passkey_name'
  return deletion.error ? 'password' : undefined
}

/** Finds the place on the account page that has the form of a request. */
export const placeOfForm = (target: string): RowId | undefined =>
  FORM_PLACES[/^\/auth\/account\/(\w+)/.exec(target)?.[1] ?? '']

const FORM_PLACES: Readonly<Record<string, RowId>> = {
  email: 'email-section',
  name: 'name-section',
  username: 'username-section',
  password: 'change-password',
  sessions: 'sessions',
  browsers: 'second-factor',
  applications: 'connected',
  identities: 'ways-in',
  passkeys: 'ways-in',
  data: 'download-data',
  delete: 'delete-account',
}
