import { randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import type { Clock } from '../lib/time.ts'
import type { Queries } from '../storage/database.ts'
import { spendToken } from '../storage/used-tokens.ts'
import { badChallenge } from './problems.ts'

/** How long a user may take. */
export const CHALLENGE_LIFETIME_MS = 5 * 60_000

/** Signing in, or adding a passkey. A challenge for one is none for the other. */
type Purpose = 'sign_in' | 'register'

/** The content of a challenge, as JSON. */
interface SealedChallenge {
  id: string
  purpose: Purpose
  /** The account that the passkey is for; a sign-in finds the account by the passkey. */
  userId?: string | undefined
  expiresAtMs: number
}

/** A challenge that came back in time, to the browser and for the purpose that it was made for. */
export interface OpenedChallenge {
  /** In the transaction of what it allows; `invalid_request` when it was used before. */
  spend(transaction: Pick<Queries, 'run'>): Promise<void>
}

export interface Challenges {
  /** `userId`: the account that a passkey is added to. */
  make(purpose: Purpose, browserSecret: string, userId?: string): string
  /** `invalid_request` for any other than that which this browser was given for this purpose and account. */
  require(challenge: string, purpose: Purpose, browserSecret: string | undefined, userId?: string): OpenedChallenge
}

/**
 * A challenge (WebAuthn section 13.4.3) is a sealed token: nothing is stored for pages that are only looked at, and any
 * replica can check what another has made. It holds 16 random bytes at least (id and nonce), belongs to the browser
 * whose cookie holds `browserSecret`, and is good once.
 */
export const createChallenges = ({ rootSecret, clock }: { rootSecret: RootSecret; clock: Clock }): Challenges => {
  const lifetimeMs = CHALLENGE_LIFETIME_MS
  const tokens = createSealedTokens<SealedChallenge>({ rootSecret, clock, purpose: 'passkey challenge', lifetimeMs })

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
