import { randomUUIDv7 } from 'node:crypto'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { inBatches, type Database, type Queries, type Transaction } from '../storage/database.ts'
import { findFormerEmails, releaseEmail } from '../accounts/email-store.ts'
import {
  DeadLinkError,
  hashToken,
  type IssuedLink,
  type Link,
  type LinkPurpose,
  NOT_ME_PURPOSES,
  urlOfLink,
} from './link.ts'
import {
  deleteLinksExpiredBefore,
  endLink,
  endLinksOfUser,
  findLatestLinks,
  findLink,
  findLinkEnd,
  findLiveLinks,
  insertLink,
  isLinkLive,
} from './link-store.ts'

/** One account has at most this many live links for a purpose; the oldest gives way. */
const MAX_LIVE = 5

/** Links that undo a change have no such limit, and those that sign in are counted as their messages are written. */
const COUNTED_ELSEWHERE: ReadonlySet<LinkPurpose> = new Set(['undo', 'sign_in'])

/** A link that is over is remembered for this long, so that a page can say what became of it. */
const REMEMBERED_MS = 7 * 24 * 3_600_000

type NewLink = Pick<Link, 'purpose' | 'userId' | 'emailLower'> & {
  details?: Link['details']
  lifetimeMs: number
  /** The link counts as made at this time if the clock of this process is behind it. */
  createdAtMs?: number
}

interface CreatedLink {
  link: Link
  token: string
  /** It is the whole address, with the token. */
  url: string
}

/**
 * Makes links that prove something: a user who follows one has read the mail that it came in, or got it from an
 * operator. A `GET` never uses one up, since mail scanners follow links.
 */
export interface IssuedLinks {
  /** Makes a link in the transaction that causes it. The token is stored nowhere, and is gone after this call. */
  create(transaction: Transaction, newLink: NewLink): Promise<CreatedLink>
  /**
   * Finds the live link of a token, without using it up; it throws a `DeadLinkError` when there is none. A token that
   * is good for another purpose is unknown.
   */
  require(purposes: readonly [LinkPurpose, ...LinkPurpose[]], token: string): Promise<Link>
  /**
   * Uses a link up; it throws a `DeadLinkError` when another request has, or it was ended or has expired since it was
   * read.
   */
  use(transaction: Transaction, link: Link): Promise<void>
  /** Ends the live links of one purpose, since a newer one takes their place. It resolves to how many there were. */
  replace(transaction: Transaction, which: Pick<Link, 'purpose' | 'userId' | 'emailLower'>): Promise<number>
  /**
   * Ends the links of a user. Links that undo a change of address end only if they were made at `undoSinceMs` or later.
   * Others may take the addresses that can no longer be put back. `keepsNotMe` keeps the links of notices.
   */
  endAll(transaction: Transaction, userId: string, undoSinceMs: number | undefined, keepsNotMe?: boolean): Promise<void>
  isLive(id: string, db?: Queries): Promise<boolean>
  /** Lists the latest links of a user, the newest first, for an operator. No token is known any more. */
  listOfUser(userId: string, limit: number): Promise<IssuedLink[]>
  /** Deletes links that have been over for a week, for cleanup; it resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

interface IssuedLinksDeps {
  db: Database
  clock: Clock
  baseUrl: string
}

export const createIssuedLinks = ({ db, clock, baseUrl }: IssuedLinksDeps): IssuedLinks => ({
  async create(transaction, { lifetimeMs, details = {}, createdAtMs = 0, ...rest }) {
    const nowMs = clock.now()
    const times = { createdAtMs: Math.max(createdAtMs, nowMs), expiresAtMs: nowMs + lifetimeMs }
    const link: Link = { ...rest, ...times, details, id: randomUUIDv7() }
    const token = randomToken(32)
    if (!COUNTED_ELSEWHERE.has(link.purpose)) {
      const live = await findLiveLinks(transaction, link, nowMs)
      for (const { id } of live.slice(MAX_LIVE - 1)) await endLink(transaction, id, 'replaced', nowMs)
    }
    await insertLink(transaction, link, hashToken(token))
    return { link, token, url: urlOfLink(baseUrl, link.purpose, token) }
  },

  async require(purposes, token) {
    const found = await findLink(db, hashToken(token))
    if (!found || !purposes.includes(found.link.purpose)) throw new DeadLinkError(purposes[0], 'unknown')
    const { link, endedBy } = found
    const state = endedBy ?? (link.expiresAtMs > clock.now() ? undefined : 'expired')
    if (state) throw new DeadLinkError(link.purpose, state)
    return link
  },

  async use(transaction, { id, purpose }) {
    if ((await endLink(transaction, id, 'used', clock.now())) > 0) return
    throw new DeadLinkError(purpose, (await findLinkEnd(transaction, id)) ?? 'expired')
  },

  async replace(transaction, which) {
    const nowMs = clock.now()
    const live = await findLiveLinks(transaction, which, nowMs)
    for (const { id } of live) await endLink(transaction, id, 'replaced', nowMs)
    return live.length
  },

  async endAll(transaction, userId, undoSinceMs, keepsNotMe = false) {
    const nowMs = clock.now()
    await endLinksOfUser(transaction, { userId, undoSinceMs, kept: keepsNotMe ? NOT_ME_PURPOSES : [], nowMs })
    if (undoSinceMs !== undefined) await releaseEmails(transaction, userId, nowMs)
  },

  isLive: (id, queries = db) => isLinkLive(queries, id, clock.now()),

  listOfUser: (userId, limit) => findLatestLinks(db, userId, limit),

  deleteExpired: (nowMs) => inBatches((limit) => deleteLinksExpiredBefore(db, nowMs - REMEMBERED_MS, limit)),
})

/** Releases the former addresses of a user that no link can put back any longer. */
const releaseEmails = async (transaction: Transaction, userId: string, nowMs: number): Promise<void> => {
  for (const emailLower of await findFormerEmails(transaction, userId, nowMs)) {
    const live = await findLiveLinks(transaction, { purpose: 'undo', userId, emailLower }, nowMs)
    const isKept = live.some((link) => link.emailLower === emailLower)
    if (!isKept) await releaseEmail(transaction, emailLower, userId)
  }
}
