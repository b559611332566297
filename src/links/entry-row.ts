import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import type { Proof } from '../sign-in/amr.ts'
import type { AskedFactor, ProvedFactor } from '../sign-in/asked-factor.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import type { Link } from './link.ts'
import type { LinksDeps } from './links-deps.ts'

/**
 * A user chooses an account at a provider, or a new passkey, in place of a password; or nothing, and signs in by mail
 * from now on.
 */
export interface Connectable {
  /** A new passkey proves nothing yet: the link stands for a password. */
  proof: Extract<Proof, 'link' | 'mail' | 'provider' | 'provider_with_factor'>
  /** It is the provider's name in the settings, `passkey`, or the way by mail, for the record. */
  method: string
  provider?: string | undefined
  /** It is undefined if the provider has verified none. */
  verifiedEmail: Email | undefined
  /** An invited account without a name gets this one, where it is accepted. */
  fullName?: string | undefined
  /** The user types these, if the page of the link asks for them. A value that is undefined stays. */
  typed?: { username: string | undefined; name: string | null | undefined } | undefined
  /** Connects it to a user whose row the transaction has locked; it throws `conflict` if another user has it. */
  connect(transaction: Transaction, userId: string): Promise<void>
}

/** The user chooses nothing, and signs in by mail from now on. The link has come to this address. */
export const signsInByMail = (
  { emailLower }: Link,
  { method = 'email', typed }: { method?: string | undefined; typed?: Connectable['typed'] } = {},
): Connectable => ({
  proof: 'mail',
  method,
  verifiedEmail: { shown: emailLower, lower: emailLower },
  typed,
  connect: async () => {},
})

/** A browser holds these secrets in its cookies; these are their hashes. */
export interface EnteringBrowser {
  /** Accounts know the browser by it. */
  device: string | undefined
  /** It has asked for links by it, and for the account at a signup. */
  link: string | undefined
}

/** A user has followed the link in this browser. */
export interface Entered {
  link: Link
  browser: EnteringBrowser
  isOwnSession: boolean
}

export interface EntryChange extends Entered {
  user: UserRecord
  factor: ProvedFactor | undefined
  /** The record names the way in which the user signs in from now on. */
  method: string
  /** It is undefined if the account has no password afterwards, since nobody has proved to know it. */
  passwordHash?: string | undefined
  username?: string | undefined
  name?: string | null | undefined
  caller: Caller
}

/** These are the rules of the links of one purpose. */
export interface EntryRow {
  requireAccount(link: Link): Promise<UserRecord>
  findAsked(link: Link, user: UserRecord, isOwnSession: boolean): AskedFactor | undefined
  /** Tells whether the entry reclaims the account, if the page of the link says so. */
  reclaims?(entered: Entered, user: UserRecord, queries?: Queries): Promise<boolean>
  /** Refuses a choice that cannot stand in place of a password. */
  requireConnectable?(link: Link, user: UserRecord, chosen: Connectable): void
  /** Uses the link up, and changes the account. */
  change(transaction: Transaction, change: EntryChange): Promise<void>
  /** Tells whether a session may start, once the change is made. */
  isStillValid(link: Link, queries: Queries): Promise<boolean>
}

export type EntryTableDeps = Pick<
  LinksDeps,
  'change' | 'db' | 'enterInvited' | 'findAsked' | 'issued' | 'markVerified' | 'reclaim' | 'unlockLogins'
> & {
  /** It tells whether an account has a passkey that must be used in a browser, in place of a code or a link. */
  needsPasskey: (userId: string, deviceHash: string | undefined, queries: Queries) => Promise<boolean>
}
