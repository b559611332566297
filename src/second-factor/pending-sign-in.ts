import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'
import type { WayIn } from './entry-policy.ts'

/** What a user has proved so far, while a second factor is still missing. */
export interface PendingSignIn {
  /** Of the row that marks it as used. */
  id: string
  userId: string
  startedAtMs: number
  way: WayIn
  /** `password`, or the provider's name: for the log, and for metrics. */
  method: string | undefined
  amr: readonly AuthenticationMethod[]
  authenticatedAtMs: number | undefined
  /** The provider that has proved the account. */
  provider: string | undefined
  /** Its connection, without which the sign-in ends. */
  identityId: string | undefined
  /** A hash of the stored password: another password ends the sign-in. */
  passwordMark: string
  /** What ends the sessions of a user ends their sign-ins that wait: it is another one then. */
  generation: number
  /** How the account gets to know the browser at the end. */
  browser: 'announced' | 'silent' | 'not_yet'
  returnTo: string
  /** The provider that is connected at the end. */
  connect: PendingConnection | undefined
  /** The session whose user confirms that it is them. */
  confirms: string | undefined
}

export interface PendingConnection {
  provider: string
  /** Sealed. */
  linkRequest: string
  /** The link request is good with it alone. */
  browserSecret: string
}
