import { randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import type { Clock } from '../lib/time.ts'
import type { Queries } from '../storage/database.ts'
import { spendToken } from '../storage/used-tokens.ts'
import { badChallenge } from './problems.ts'

/** A user may take this long. */
export const CHALLENGE_LIFETIME_MS = 5 * 60_000

/** A user signs in or adds a passkey. A challenge for one purpose is not good for the other. */
type Purpose = 'sign_in' | 'register'

/** This is the content of a challenge, as JSON. */
interface SealedChallenge {
  id: string
  purpose: Purpose
  /** The passkey is for this account; a sign-in finds the account by the passkey. */
  userId?: string | undefined
  expiresAtMs: number
}

/** The challenge came back in time, from the browser and for the purpose that it was made for. */
export interface OpenedChallenge {
  /** Marks it as used, in the transaction that it allows. It throws `invalid_request` when it was used before. */
  spend(transaction: Pick<Queries, 'run'>): Promise<void>
}

export interface Challenges {
  /** `userId` is the account that a passkey is added to. */
  make(purpose: Purpose, browserSecret: string, userId?: string): string
  /** Throws `invalid_request` for any other than that which this browser was given for this purpose and account. */
  require(challenge: string, purpose: Purpose, browserSecret: string | undefined, userId?: string): OpenedChallenge
}

interface ChallengesDeps {
  rootSecret: RootSecret
  clock: Clock
  /** Users and administrators are given challenges of their own. */
  purpose: 'passkey challenge' | 'administrator challenge'
}

/**
 * A challenge (WebAuthn section 13.4.3) is a sealed token: nothing is stored for pages that are only looked at, and any
 * replica can check what another has made. It holds 16 random bytes at least (id and nonce), belongs to the browser
 * whose cookie holds `browserSecret`, and is good once.
 */
export const createChallenges = ({ rootSecret, clock, purpose: sealedFor }: ChallengesDeps): Challenges => {
  const lifetimeMs = CHALLENGE_LIFETIME_MS
  const tokens = createSealedTokens<SealedChallenge>({ rootSecret, clock, purpose: sealedFor, lifetimeMs })

  return {
    make(purpose, browserSecret, userId) {
      const expiresAtMs = clock.now() + lifetimeMs
      return tokens.seal({ id: randomUUIDv7(), purpose, userId, expiresAtMs }, browserSecret)
    },

    require(challenge, purpose, browserSecret, userId) {
      const opened = tokens.open(challenge, browserSecret)
      if (!opened) throw badChallenge('the challenge was not made here')
      if (opened.problem) throw badChallenge(`the challenge is ${opened.problem}`)
      const { content } = opened
      if (content.purpose !== purpose) throw badChallenge('the challenge has another purpose')
      if (content.userId !== userId) throw badChallenge('the challenge is of another account')
      return {
        async spend(transaction) {
          const { id, expiresAtMs } = content
          if (!(await spendToken(transaction, { id, expiresAtMs }))) throw badChallenge('the challenge was used before')
        },
      }
    },
  }
}
