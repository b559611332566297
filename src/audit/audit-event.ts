import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'

/** The types of records. The names are public (docs/audit.md). */
export const AUDIT_TYPES = [
  'login.succeeded',
  /** A wrong password, code or passkey, wherever one is asked for, or a sign-in that may not go on. */
  'login.failed',
  /** A limit has refused a login, before anything was checked. */
  'login.limited',
  /** A code that signs in was asked for by mail, for this account or for an address without one. */
  'login.email_requested',
  /** An operator has a link by which anyone signs in. */
  'login.link_created',
  'logout',
  /** A user makes their account, or enters one by an invitation. */
  'signup',
  /** A refresh token was used that had been replaced: the session ends. */
  'session.refreshed_reuse',
  /** Sessions were ended by anything but a logout of their own. */
  'session.ended',
  'password.changed',
  /** There was no password before, or an operator has set it. */
  'password.set',
  /** The user has followed a link. */
  'password.reset',
  /** An operator, or the application's backend, has a link with which anyone can choose a password. */
  'password.reset_link_created',
  'email.verified',
  /** The application's backend vouches for the address no longer. */
  'email.unverified',
  'email.change_requested',
  'email.change_cancelled',
  'email.changed',
  'email.change_undone',
  'username.changed',
  'name.changed',
  'language.changed',
  /** The user has downloaded what svc keeps about them. */
  'account.exported',
  'identity.linked',
  'identity.unlinked',
  /** The account went to the owner of its email, who has proved it: what others had set up is gone. */
  'identity.taken_over',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  /** Its counter went back: there may be a copy of it. */
  'passkey.counter_went_back',
  'second_factor.added',
  'second_factor.removed',
  /** An operator has removed the second factor. */
  'second_factor.reset',
  'second_factor.recovery_code_used',
  'second_factor.recovery_codes_renewed',
  /** The browsers that are asked for no second factor are asked again. */
  'second_factor.trust_ended',
  /** An operator, or the application's backend, does this and what follows. */
  'user.created',
  'user.invited',
  'user.disabled',
  'user.enabled',
  /** The limits of failed logins begin from zero. */
  'user.unlocked',
  'user.roles_changed',
  'user.deleted',
  /** An administrator has looked at the page of a user. */
  'user.viewed',
  /** An administrator has exported records. */
  'audit.exported',
  /** An operator does this to an administrator, who is not a user. */
  'administrator.invited',
  'administrator.reset',
  'administrator.role_changed',
  'administrator.removed',
  'administrator.signed_in',
  /** This is counted, as failed logins are. */
  'administrator.sign_in_failed',
  'administrator.signed_out',
  'administrator.passkey_added',
  'administrator.passkey_removed',
  'key.rotated',
  'api_key.created',
  'api_key.revoked',
  'webhook.given_up',
  /** An operator has it sent again. */
  'webhook.redelivered',
  'mail.resent',
  /** An operator, or the application's backend, does this to a client of the OAuth server. */
  'client.created',
  'client.changed',
  'client.secret_rotated',
  'client.deleted',
  /** A client got access to an account. */
  'grant.created',
  'grant.ended',
  /** A refresh token of a client was used that had been replaced, or by another client: the grant ends. */
  'grant.refresh_reused',
  /** An authorization code was used again: its grant ends. */
  'code.reused',
  'import.added',
  /** An import that failed has deleted what it had added. */
  'import.taken_back',
] as const

export type AuditType = (typeof AUDIT_TYPES)[number]

/**
 * The details of a record. The names are public, and so few that no secret, password or email can get among them, unless
 * an operator writes it as the reason of an act.
 */
export interface AuditDetails {
  /**
   * `password`, `passkey`, `code`, `recovery_code`, `email_code`, `email_link`, `link`, `invitation`, or the provider's
   * name in the settings.
   */
  method?: string | undefined
  /** The reason why something failed, was refused or has ended, as the log says it, or in the words of an operator. */
  reason?: string | undefined
  /** The limit that has refused a login. */
  limit?: string | undefined
  /** A keyed hash of what was entered for an email, where no user is known. */
  account?: string | undefined
  /** The number of sessions, users or failed logins. */
  count?: number | undefined
  /** The provider's name in the settings. */
  provider?: string | undefined
  roles?: readonly string[] | undefined
  /** The session that ended, if the request used a different one. */
  endedSessionId?: string | undefined
  identityId?: string | undefined
  passkeyId?: string | undefined
  apiKeyId?: string | undefined
  apiKeyName?: string | undefined
  scopes?: readonly string[] | undefined
  /** The key that signs access tokens. */
  keyId?: string | undefined
  webhookId?: string | undefined
  messageId?: string | undefined
  /** The name of an administrator. */
  administrator?: string | undefined
  clientId?: string | undefined
  clientName?: string | undefined
  grantId?: string | undefined
}

export interface AuditEvent {
  type: AuditType
  /** The user to whose account it happened; undefined where none is known, or none is concerned. */
  userId?: string | undefined
  /** The session that began, ended or acted; undefined: the one that the caller came with. */
  sessionId?: string | undefined
  details?: AuditDetails | undefined
}

/**
 * Writes the record of an action, in its transaction: an action that is rolled back leaves none. Without a caller, it
 * was the command line (`cli`), or in a process that serves, the service itself (`system`).
 */
export type RecordEvent = (
  transaction: Pick<Transaction, 'run' | 'afterCommit'>,
  event: AuditEvent,
  caller?: Caller,
) => Promise<void>

/** The events that strangers can cause: any number, each from another network. */
export const COUNTED_TYPES = ['login.failed', 'login.limited', 'login.email_requested'] as const satisfies AuditType[]

/** An event of which there can be a flood. */
export interface CountedEvent extends AuditEvent {
  type: (typeof COUNTED_TYPES)[number] | 'administrator.sign_in_failed'
  /** The text that was entered for an email. It is not stored; its keyed hash is, where no user has it. */
  email?: string | undefined
}

/**
 * Counts an event that has no transaction: one row for each account, network and minute. It waits for nothing, cannot
 * fail, and takes as long for an account that exists as for one that does not.
 */
export type TallyEvent = (event: CountedEvent, caller?: Caller) => void
