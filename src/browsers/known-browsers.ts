import { createHash } from 'node:crypto'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Transaction } from '../storage/database.ts'
import { deleteKnownBrowsersAbove, insertKnownBrowser, markSeen, renameBrowser } from './known-browser-store.ts'

/** More than anyone uses; of more, those that were seen last stay known. */
const MAX_KNOWN = 20

/** A browser in which a user signs in. */
export interface RecognisedBrowser {
  /** For the cookie. */
  secret: string
  deviceHash: string
  /** Whether the user has signed in completely in this browser before. */
  wasKnown: boolean
}

/**
 * The browsers in which users have signed in before. A browser is recognised by a random secret in its cookie, of which
 * a hash is stored with each account that knows it.
 */
export interface KnownBrowsers {
  /** Notes a complete sign-in, in the transaction that starts its session and has locked the user. */
  recordSignIn(transaction: Transaction, userId: string, secret: string | undefined): Promise<RecognisedBrowser>
  /** The browser of a signup: it becomes known once the address of the account is verified. */
  introduce(secret: string | undefined): RecognisedBrowser
}

export const createKnownBrowsers = ({ clock }: { clock: Clock }): KnownBrowsers => ({
  async recordSignIn(transaction, userId, held) {
    const nowMs = clock.now()
    if (held !== undefined) {
      const deviceHash = hashSecret(held)
      if ((await markSeen(transaction, { userId, deviceHash }, nowMs)) > 0)
        return { secret: held, deviceHash, wasKnown: true }
    }
    // A secret that this account does not know may be one that another host of the domain has put into the browser,
    // and that an attacker keeps too. So the browser gets a new one, by which all its accounts know it from now on.
    const secret = randomToken(32)
    const deviceHash = hashSecret(secret)
    if (held !== undefined) await renameBrowser(transaction, hashSecret(held), deviceHash)
    await insertKnownBrowser(transaction, { userId, deviceHash }, nowMs)
    await deleteKnownBrowsersAbove(transaction, userId, MAX_KNOWN)
    return { secret, deviceHash, wasKnown: false }
  },

  introduce(held) {
    const secret = held ?? randomToken(32)
    return { secret, deviceHash: hashSecret(secret), wasKnown: false }
  },
})

const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
