import { createHash, randomUUIDv7 } from 'node:crypto'
import { lockSignInGeneration, lockUser, type UserRecord } from '../accounts/user-store.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import type { Clock } from '../lib/time.ts'
import type { AuthenticationMethod, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Queries } from '../storage/database.ts'
import { isSpent, spendToken } from '../storage/used-tokens.ts'
import type { WayIn } from './entry-policy.ts'

const LIFETIME_MS = 600_000

/** A browser refuses a cookie of more than 4,096 bytes, its name and attributes included (RFC 6265bis section 6.1). */
const MAX_SEALED_LENGTH = 3700

/** A user has proved this much, while a second factor is still missing. */
export interface PendingSignIn {
  /** A row with this id marks the sign-in as used. */
  id: string
  userId: string
  startedAtMs: number
  way: WayIn
  /** It is `password` or the provider's name, for the log and for metrics. */
  method: string | undefined
  amr: readonly AuthenticationMethod[]
  authenticatedAtMs: number | undefined
  /** This provider has proved the account. */
  provider: string | undefined
  /** The sign-in ends when this connection of the provider is gone. */
  identityId: string | undefined
  /** It is a hash of the stored password: another password ends the sign-in. */
  passwordMark: string
  /** Each event that ends the sessions of a user counts it up, and so ends the sign-ins that wait. */
  generation: number
  /** It says how the account gets to know the browser at the end. */
  browser: 'announced' | 'silent' | 'not_yet'
  returnTo: string
  connect: PendingConnection | undefined
  /** The user of this session confirms that it is them. */
  confirms: string | undefined
}

export interface PendingConnection {
  provider: string
  /** The request is sealed. */
  linkRequest: string
  /** The link request is good with this secret alone. */
  browserSecret: string
}

/** The caller knows these facts of a sign-in as it begins to wait. */
type NewPendingSignIn = Omit<PendingSignIn, 'id' | 'startedAtMs' | 'passwordMark' | 'generation'>

/**
 * Keeps sign-ins that wait for a second factor. The proof travels sealed, is bound to the browser by `browserSecret`,
 * and is good once, for ten minutes. Nothing is stored before it is used up.
 */
export interface PendingSignIns {
  readonly lifetimeMs: number
  /** It must be called in the transaction that has checked the proof. */
  begin(transaction: Queries, proved: NewPendingSignIn): Promise<PendingSignIn>
  /** Does the same in a transaction of its own. It resolves to undefined if the grant no longer holds. */
  beginWith(grant: SignInGrant, proved: NewPendingSignIn): Promise<PendingSignIn | undefined>
  /** Leaves `returnTo` out if it would not fit into a cookie. */
  seal(pending: PendingSignIn, browserSecret: string): string
  /** It returns undefined for text that svc has not sealed, for text from another browser, and after ten minutes. */
  open(sealed: string | undefined, browserSecret: string | undefined): PendingSignIn | undefined
  /**
   * Tells whether it holds: it was not used, nothing has ended it, and the account and its password are as they were.
   */
  isLive(pending: PendingSignIn, queries?: Queries): Promise<boolean>
  /** Uses it up, in the transaction that it permits. It resolves to false if it no longer holds. */
  use(transaction: Queries, pending: PendingSignIn): Promise<boolean>
  /** Gives the grant of its end: `use` is asked in the transaction that starts the session. */
  grantFor(pending: PendingSignIn): SignInGrant
  /** Ends it at logout: it is good for nothing from now on. */
  end(pending: PendingSignIn): Promise<unknown>
}

interface PendingSignInsDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  /** Tells whether the user still has this connection to a provider, which then stays until the transaction ends. */
  lockIdentity: (transaction: Queries, id: string, userId: string) => Promise<boolean>
}

export const createPendingSignIns = (deps: PendingSignInsDeps): PendingSignIns => {
  const { db, clock, rootSecret, lockIdentity } = deps
  const lifetimeMs = LIFETIME_MS
  const tokens = createSealedTokens<PendingSignIn>({ rootSecret, clock, purpose: 'pending sign-in', lifetimeMs })

  const isLive = async (pending: PendingSignIn, queries: Queries = db): Promise<boolean> => {
    const { id, userId, identityId, passwordMark, generation } = pending
    const user = await lockUser(queries, userId)
    if (!user || user.disabled || markOf(user) !== passwordMark) return false
    if (identityId !== undefined && !(await lockIdentity(queries, identityId, userId))) return false
    return (await lockSignInGeneration(queries, userId)) === generation && !(await isSpent(queries, id))
  }

  const begin: PendingSignIns['begin'] = async (transaction, proved) => {
    const user = await lockUser(transaction, proved.userId)
    const generation = (await lockSignInGeneration(transaction, proved.userId)) ?? 0
    return { ...proved, id: randomUUIDv7(), startedAtMs: clock.now(), passwordMark: markOf(user), generation }
  }

  const spend = (queries: Pick<Queries, 'run'>, { id, startedAtMs }: PendingSignIn): Promise<boolean> =>
    spendToken(queries, { id, expiresAtMs: startedAtMs + 2 * lifetimeMs })

  const use = async (transaction: Queries, pending: PendingSignIn): Promise<boolean> =>
    (await isLive(pending, transaction)) && spend(transaction, pending)

  return {
    lifetimeMs,
    isLive,
    use,

    begin,

    beginWith: (grant, proved) =>
      db.inTransaction(async (transaction) =>
        (await grant.isStillValid(transaction)) ? begin(transaction, proved) : undefined,
      ),

    seal(pending, browserSecret) {
      const sealed = tokens.seal(pending, browserSecret)
      return sealed.length > MAX_SEALED_LENGTH ? tokens.seal({ ...pending, returnTo: '' }, browserSecret) : sealed
    },

    open(sealed, browserSecret) {
      const opened = tokens.open(sealed, browserSecret)
      return opened && !opened.problem ? opened.content : undefined
    },

    grantFor: (pending) => ({
      userId: pending.userId,
      authenticatedAtMs: pending.authenticatedAtMs,
      amr: pending.amr,
      provider: pending.provider,
      identityId: pending.identityId,
      isStillValid: (transaction) => use(transaction, pending),
    }),

    end: (pending) => spend(db, pending),
  }
}

/** Marks the password: the mark is another one after a change, and an account without a password has one too. */
const markOf = (user: UserRecord | undefined): string =>
  createHash('sha256')
    .update(`${user?.id} ${user?.passwordHash ?? ''}`)
    .digest('base64url')
