import { createHash } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import {
  countTrusted,
  deleteKnownBrowsersAbove,
  endTrust,
  findKnownBrowser,
  findKnownBrowsers,
  insertKnownBrowser,
  type KnownBrowserTimes,
  markSeen,
  renameBrowser,
  updateTrust,
} from './known-browser-store.ts'

/** No one uses more. Beyond the limit, the browsers that were seen last stay known. */
const MAX_KNOWN = 20

export interface RecognisedBrowser {
  /** The cookie holds it. */
  secret: string
  deviceHash: string
  /** It tells whether the user has signed in completely in this browser before. */
  wasKnown: boolean
}

/**
 * Knows the browsers in which users have signed in before. A browser is recognised by a random secret in its cookie,
 * and a hash of the secret is stored with each account that knows it.
 */
export interface KnownBrowsers {
  /** Notes a complete sign-in, in the transaction that starts its session and has locked the user. */
  recordSignIn(transaction: Transaction, userId: string, secret: string | undefined): Promise<RecognisedBrowser>
  /** Recognises the browser of a signup: it becomes known once the address of the account is verified. */
  introduce(secret: string | undefined): RecognisedBrowser

  // Trust spares the second factor after a password or a provider.
  /** Trust lasts this long; it is never offered when this is 0. */
  readonly trustMs: number
  /** Finds the browser with this secret, if the account knows it. */
  find(userId: string, secret: string | undefined, queries?: Pick<Queries, 'get'>): Promise<FoundBrowser | undefined>
  /** Does the same by the hash of its secret. */
  findByHash(userId: string, deviceHash: string): Promise<FoundBrowser | undefined>
  /**
   * Trusts a browser after a right code, in the transaction that has recorded the sign-in. The browser gets another
   * secret.
   */
  trust(transaction: Transaction, userId: string, browser: RecognisedBrowser): Promise<RecognisedBrowser>
  countTrusted(userId: string): Promise<number>
  /** Lists them, those seen last first. The hash of the secret stays here. */
  list(userId: string): Promise<KnownBrowserTimes[]>
  /** It resolves to how many were trusted. */
  endTrust(userId: string, caller: Caller): Promise<number>
}

interface FoundBrowser {
  /** The counts of this browser are stored under this name, which stays when the browser gets another secret. */
  countedAs: string
  isTrusted: boolean
}

interface KnownBrowsersDeps {
  db: Database
  clock: Clock
  trustMs: number
  recordEvent: RecordEvent
}

export const createKnownBrowsers = ({ db, clock, trustMs, recordEvent }: KnownBrowsersDeps): KnownBrowsers => {
  const findByHash = async (
    queries: Pick<Queries, 'get'>,
    browser: { userId: string; deviceHash: string },
  ): Promise<FoundBrowser | undefined> => {
    const found = await findKnownBrowser(queries, browser)
    if (!found) return undefined
    const { knownSinceMs, trustedUntilMs } = found
    // The trust of earlier sign-ins does not count while trust is switched off.
    const isTrusted = trustMs > 0 && (trustedUntilMs ?? 0) > clock.now()
    return { countedAs: String(knownSinceMs), isTrusted }
  }

  return {
    trustMs,

    find: async (userId, secret, queries = db) =>
      secret === undefined ? undefined : findByHash(queries, { userId, deviceHash: hashBrowserSecret(secret) }),

    findByHash: (userId, deviceHash) => findByHash(db, { userId, deviceHash }),

    async trust(transaction, userId, { wasKnown, ...held }) {
      // An attacker may have put a known secret there, and keep it too.
      const { secret, deviceHash } = wasKnown ? await newSecret(transaction, held.deviceHash) : held
      await updateTrust(transaction, { userId, deviceHash }, clock.now() + trustMs)
      return { secret, deviceHash, wasKnown }
    },

    countTrusted: async (userId) => (trustMs > 0 ? countTrusted(db, userId, clock.now()) : 0),

    list: (userId) => findKnownBrowsers(db, userId),

    endTrust: (userId, caller) =>
      db.inTransaction(async (transaction) => {
        const count = await endTrust(transaction, userId)
        const event = { type: 'second_factor.trust_ended', userId, details: { count } } as const
        if (count > 0) await recordEvent(transaction, event, caller)
        return count
      }),

    async recordSignIn(transaction, userId, held) {
      const nowMs = clock.now()
      if (held !== undefined) {
        const deviceHash = hashBrowserSecret(held)
        if ((await markSeen(transaction, { userId, deviceHash }, nowMs)) > 0)
          return { secret: held, deviceHash, wasKnown: true }
      }
      // Another host of the domain may have put a secret that this account does not know into the browser, and an
      // attacker may keep it too. The browser therefore gets a new one.
      const { secret, deviceHash } = await newSecret(transaction, held && hashBrowserSecret(held))
      await insertKnownBrowser(transaction, { userId, deviceHash }, nowMs)
      await deleteKnownBrowsersAbove(transaction, userId, MAX_KNOWN)
      return { secret, deviceHash, wasKnown: false }
    },

    introduce(held) {
      const secret = held ?? randomToken(32)
      return { secret, deviceHash: hashBrowserSecret(secret), wasKnown: false }
    },
  }
}

/** Gives a browser another secret, by which all its accounts know it from now on. */
const newSecret = async (
  transaction: Transaction,
  heldHash: string | undefined,
): Promise<Pick<RecognisedBrowser, 'secret' | 'deviceHash'>> => {
  const secret = randomToken(32)
  const deviceHash = hashBrowserSecret(secret)
  if (heldHash !== undefined) await renameBrowser(transaction, heldHash, deviceHash)
  return { secret, deviceHash }
}

/** A browser is stored, and looked up, by this hash. */
export const hashBrowserSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
