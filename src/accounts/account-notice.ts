import type { Caller } from '../lib/caller.ts'
import type { LimitedLoginsOfAccount } from '../lib/limited-logins.ts'
import type { Transaction } from '../storage/database.ts'

/** The first grant to a client of the OAuth server connects it. */
interface ConnectedApplication {
  /** An operator has given the client its name. All other names are whatever their clients chose. */
  name: string
  isNameVouched: boolean
  /** It is the host where the client lives; it is undefined for a program of the user's own. */
  host: string | undefined
}

interface EndsApplications {
  /** Clients of the OAuth server have lost their access by it. */
  applicationsEnded: boolean
}

/** A notice tells users what happened to their account. It has no text that its user chose: a stranger may read it. */
export type AccountNotice =
  | { kind: 'email_changed'; oldEmail: string; newEmail: string }
  | { kind: 'username_changed'; oldUsername: string; newUsername: string }
  | { kind: 'name_changed' }
  /** `set`: there was none before. `reset`: by a link. */
  | ({ kind: 'password_changed'; how: 'changed' | 'set' | 'reset' } & EndsApplications)
  /** `provider` is its label. */
  | { kind: 'provider_connected'; provider: string; identityId: string }
  | { kind: 'provider_removed'; provider: string }
  /** `addedAtMs` is what is stored with the passkey. */
  | { kind: 'passkey_added'; passkeyId: string; addedAtMs: number }
  | { kind: 'passkey_removed' }
  /** `setUpAtMs` is what is stored with the authenticator app. */
  | { kind: 'second_factor_set_up'; setUpAtMs: number }
  | { kind: 'second_factor_removed' }
  /** An operator did it; `passkeys` counts those that went too. */
  | ({ kind: 'second_factor_reset'; codes: boolean; passkeys: number } & EndsApplications)
  /** `left` counts those that are still good. */
  | { kind: 'recovery_code_used'; left: number }
  | { kind: 'recovery_codes_renewed' }
  /** A right password, a provider or a link was followed by three wrong codes. */
  | { kind: 'wrong_codes' }
  | { kind: 'account_deleted' }
  /** All that svc keeps about the user was downloaded. */
  | { kind: 'account_exported' }
  | ({ kind: 'account_taken_over' } & EndsApplications)
  | { kind: 'login_limited'; logins: LimitedLoginsOfAccount }
  | { kind: 'new_browser'; deviceHash: string }
  /** An operator has made a link by which anyone signs in to the account. */
  | { kind: 'sign_in_link_created' }
  | ({ kind: 'application_connected' } & ConnectedApplication)

/**
 * Writes a message to the user in the transaction of the change; does nothing while mail is off. It is called before the
 * row of a user is deleted, since the address stands there. Without a caller, an operator made the change.
 */
export type Notify = (transaction: Transaction, userId: string, notice: AccountNotice, caller?: Caller) => Promise<void>
