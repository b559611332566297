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

/**
 * A pending sign-in as it is sealed, as JSON. A sign-in that begins on one version of svc may end on another: these keys
 * never change.
 */
export interface SealedSignIn {
  id: string
  userId: string
  startedAtMs: number
  way: WayIn
  method?: string | undefined
  amr: readonly AuthenticationMethod[]
  authenticatedAtMs?: number | undefined
  provider?: string | undefined
  identity?: string | undefined
  password: string
  generation: number
  browser: PendingSignIn['browser']
  target?: string | undefined
  connect?: { provider: string; request: string; secret: string } | undefined
  session?: string | undefined
}

export const signInToSealed = (pending: PendingSignIn): SealedSignIn => ({
  id: pending.id,
  userId: pending.userId,
  startedAtMs: pending.startedAtMs,
  way: pending.way,
  method: pending.method,
  amr: pending.amr,
  authenticatedAtMs: pending.authenticatedAtMs,
  provider: pending.provider,
  identity: pending.identityId,
  password: pending.passwordMark,
  generation: pending.generation,
  browser: pending.browser,
  target: pending.returnTo,
  connect: pending.connect && {
    provider: pending.connect.provider,
    request: pending.connect.linkRequest,
    secret: pending.connect.browserSecret,
  },
  session: pending.confirms,
})

export const signInFromSealed = (sealed: SealedSignIn): PendingSignIn => ({
  id: sealed.id,
  userId: sealed.userId,
  startedAtMs: sealed.startedAtMs,
  way: sealed.way,
  method: sealed.method,
  amr: sealed.amr,
  authenticatedAtMs: sealed.authenticatedAtMs,
  provider: sealed.provider,
  identityId: sealed.identity,
  passwordMark: sealed.password,
  generation: sealed.generation,
  browser: sealed.browser,
  returnTo: sealed.target ?? '',
  connect: sealed.connect && {
    provider: sealed.connect.provider,
    linkRequest: sealed.connect.request,
    browserSecret: sealed.connect.secret,
  },
  confirms: sealed.session,
})
