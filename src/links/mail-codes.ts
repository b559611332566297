import { randomInt } from 'node:crypto'
import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { equalInConstantTime, hmac } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { retrySecondsOf } from '../limits/too-many-tries.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Link, LinkPurpose } from './link.ts'
import { findLinkById } from './link-store.ts'
import {
  addToTries,
  findMailCodes,
  insertMailCode,
  lockMailCodes,
  type MailCode,
  updateCodeHash,
} from './mail-code-store.ts'

const DIGITS = 8

/** So many codes may be typed for one that was sent. They end the code, and not its link. */
const MAX_TRIES = 5

/** This is the purpose of the key that codes are hashed with: eight digits alone could be found from a plain hash. */
const HASHING = 'codes in messages'

/** A user has typed a code, in a browser that has asked for one. */
export interface TypedCode {
  code: string
  purpose: Extract<LinkPurpose, 'sign_in' | 'confirm'>
  /** It is the hash by which the browser is recognised; it is undefined if it has never asked for anything. */
  browser: string | undefined
  /** The code was sent to this address; if it is undefined, to the one that this browser has asked for last. */
  email: Email | undefined
}

/** The code is right. Nothing was used up yet. */
export interface CheckedMailCode {
  link: Link
  /** Takes the count of the try back, if the code stays good. */
  takeBack(): Promise<void>
}

/**
 * Codes in messages: eight digits that are good in the browser that has asked for them alone, beside a link that both
 * use up. A request makes a code whether or not the address has an account, and its tries count alike: nothing tells a
 * stranger the one from the other.
 */
export interface MailCodes {
  /** Notes that a browser has asked for a code, before it is known whether one is sent. */
  insert(transaction: Transaction, link: Pick<Link, 'id'>, browser: string): Promise<unknown>
  /** Makes the code of a message. Only its hash is stored. */
  create(transaction: Transaction, linkId: string): Promise<string>
  /** Finds what this browser has asked for last, if it can still be good. */
  findAsked(which: Omit<TypedCode, 'code'>): Promise<AskedCode | undefined>
  /**
   * Counts a try, and then compares. Throws `unauthorized` for a wrong code and where this browser has asked for none
   * that could be good, and `rate_limited` after five wrong ones.
   */
  check(typed: TypedCode): Promise<CheckedMailCode>
}

export interface AskedCode {
  /** It is the address as it was entered. */
  email: string
  emailLower: string
  returnTo: string | undefined
}

interface MailCodesDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
}

export const createMailCodes = ({ db, clock, rootSecret }: MailCodesDeps): MailCodes => {
  const isRight = ({ linkId, codeHash }: MailCode, code: string): boolean =>
    rootSecret.find((keys) => {
      const typed = hmac(keys.for(HASHING), textOf(linkId, code), 'base64url')
      return equalInConstantTime(typed, codeHash ?? NO_HASH) || undefined
    }) ?? false

  const find = async ({ browser, purpose, email }: Omit<TypedCode, 'code'>, queries: Queries = db) => {
    if (browser === undefined) return []
    const asked = await findMailCodes(queries, { browser, purpose, nowMs: clock.now() })
    const emailLower = email?.lower ?? asked[0]?.emailLower
    return asked.filter((code) => code.emailLower === emailLower)
  }

  /** The counts are committed before any comparison: two hundred tries at once are no more than five in a row. */
  const count = (typed: TypedCode): Promise<MailCode[]> =>
    db.inTransaction(async (transaction) => {
      if (typed.browser !== undefined) await lockMailCodes(transaction, typed.browser)
      const asked = await find(typed, transaction)
      const [newest] = asked
      if (!newest) throw noCode()
      const open = asked.filter(({ tries }) => tries < MAX_TRIES)
      if (open.length === 0) throw tooManyCodes(newest.expiresAtMs - clock.now())
      for (const { linkId } of open) await addToTries(transaction, linkId, 1)
      return open
    })

  const takeBack = (counted: readonly MailCode[]): Promise<void> =>
    db.inTransaction(async (transaction) => {
      for (const { linkId } of counted.toReversed()) await addToTries(transaction, linkId, -1)
    })

  return {
    insert: (transaction, { id: linkId }, browser) => insertMailCode(transaction, { linkId, browser }),

    async create(transaction, linkId) {
      const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0')
      await updateCodeHash(transaction, linkId, hmac(rootSecret.keys.for(HASHING), textOf(linkId, code), 'base64url'))
      return code
    },

    async findAsked(which) {
      const [newest] = await find(which)
      if (!newest) return undefined
      const { emailLower, details } = newest
      return { email: details.email ?? emailLower, emailLower, returnTo: details.returnTo }
    },

    async check(typed) {
      const counted = await count(typed)
      // Each is compared, whichever is right.
      const [right] = counted.filter((code) => isRight(code, typed.code))
      const link = right && right.endedBy === null ? await findLinkById(db, right.linkId) : undefined
      if (!link) throw wrongCode()
      return { link, takeBack: () => takeBack(counted) }
    },
  }
}

const textOf = (linkId: string, code: string): string => `${linkId} ${code}`

/** Takes the place of the hash of a code that nobody was sent, so that the comparison takes as long. It is of none. */
const NO_HASH = '-'.repeat(43)

const wrongCode = (): AppError =>
  new AppError('unauthorized', 'This code is wrong, or no longer works.', { field: 'code', reason: 'mail_code_wrong' })

/** The code was asked for in another browser, or too long ago. */
const noCode = (): AppError =>
  new AppError('unauthorized', 'There is no code that could be good in this browser: ask for one.', {
    field: 'email',
    reason: 'mail_code_none',
  })

const tooManyCodes = (waitMs: number): AppError => {
  const retryAfterSeconds = retrySecondsOf(waitMs)
  return new AppError('rate_limited', 'Too many wrong codes: open the link in the message, or ask for another code.', {
    reason: 'mail_codes_limited',
    retryAfterSeconds,
  })
}
