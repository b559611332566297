import type { Caller } from '../lib/caller.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { ProviderProof } from '../accounts/provider-proof.ts'
import type { Link, LinkPurpose } from './link.ts'
import type { ProvedFactor } from './proved-factor.ts'

/** The links whose user can continue with a provider in place of a password. */
const PURPOSES = ['reset', 'undo', 'invite'] as const satisfies LinkPurpose[]

export type EntryPurpose = (typeof PURPOSES)[number]

export const isEntryPurpose = (text: string | undefined): text is EntryPurpose =>
  PURPOSES.some((purpose) => purpose === text)

interface ProviderEntry {
  /** Live when it was read. */
  link: Link
  proof: ProviderProof
  /** Whether the browser has a session of the account: then the proof of an unverified address is no take-over. */
  isOwnSession: boolean
  /** The second factor that was proved before, where the account has one. */
  factor: ProvedFactor | undefined
  caller: Caller
}

/** Nothing was changed yet. */
interface CheckedEntry {
  grant: SignInGrant
  /**
   * Uses the link up, changes the account, and connects the provider; a `DeadLinkError` when another request was first.
   */
  apply: (transaction: Transaction) => Promise<void>
}

/** Enters an account by a link and a provider, which is connected to it. The link is used up with the connection. */
export type EnterByProvider = (entry: ProviderEntry) => Promise<CheckedEntry>
