import { createHash, hash } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import { equalInConstantTime, hmac, open, seal } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, inBatches, type Transaction } from '../storage/database.ts'
import { IDEMPOTENCY_FIELD } from './api-key.ts'
import {
  claimAgain,
  deleteClaim,
  deleteRequestsExpiredBy,
  insertClaim,
  lockIdempotentRequest,
  type StoredRequest,
  storeAnswer,
} from './idempotent-request-store.ts'

/** The answer to a request, which is repeated. */
export interface Answer {
  status: number
  content: string
}

declare const KEPT: unique symbol

/** A response that was handed to `Keep`. */
export type Kept<Response> = Response & { readonly [KEPT]: true }

/**
 * Stores a response in the transaction of its effect, where the request has an `Idempotency-Key`. The handler of a
 * `POST` cannot return any other response.
 */
export type Keep<Response> = (transaction: Transaction, response: Response) => Promise<Kept<Response>>

/** A request that says by its `Idempotency-Key` that it is to have one effect, however often it comes. */
interface IdempotentRequest {
  apiKeyId: string
  idempotencyKey: string
  method: string
  /** Path and query. */
  target: string
  body: Uint8Array
}

/** The right to do what a request asks for. */
export interface Claim {
  /**
   * Stores the answer in the transaction of the effect. `conflict`, so that the transaction ends without an effect, when
   * another process has taken the request over.
   */
  keep(transaction: Transaction, answer: Answer): Promise<void>
  /** Stores the answer to a request that had no effect. */
  keepFailure(answer: Answer): Promise<void>
  /** Gives the request back after a failure that is not kept: it can be sent again at once. */
  release(): Promise<void>
}

const KEPT_MS = 24 * 3_600_000
/**
 * A request counts as under way for so long. One whose process has died is taken over afterwards; one that only takes
 * longer than this finds that out when it wants to store its answer, and does nothing.
 */
const CLAIMED_MS = 30_000

const SEALING = 'idempotent answers'
const HASHING = 'idempotent requests'

/** Requests with an `Idempotency-Key` (CONTRACT.md 10.4). */
export interface Idempotency {
  /**
   * The answer that is repeated, or the claim of the first request. `unprocessable` for the same key with another body or
   * path, `conflict` while the first request is under way.
   */
  begin(request: IdempotentRequest): Promise<{ answer: Answer } | { claim: Claim }>
  /** Deletes answers that are no longer repeated, for cleanup; resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

interface IdempotencyDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
}

export const createIdempotency = ({ db, clock, rootSecret }: IdempotencyDeps): Idempotency => {
  /** Keyed, since the body may hold a password: who reads the database must not be able to try passwords on it. */
  const isSame = (request: IdempotentRequest, requestHash: string): boolean => {
    const text = textOf(request)
    const found = rootSecret.find(
      (keys) => equalInConstantTime(hmac(keys.for(HASHING), text, 'base64url'), requestHash) || undefined,
    )
    return found === true
  }

  const openAnswer = (id: string, { status, answerSealed }: StoredRequest): Answer => {
    const content = rootSecret.find((keys) => open(keys.for(SEALING), answerSealed ?? '', id)?.toString())
    if (status !== null && content !== undefined) return { status, content }
    throw new AppError('conflict', 'The answer to this Idempotency-Key can no longer be read.', {
      field: IDEMPOTENCY_FIELD,
    })
  }

  /** Runs in a transaction: of two requests at once, one makes the row, and the other one waits for it. */
  const claim = async (transaction: Transaction, id: string, request: IdempotentRequest) => {
    const { apiKeyId } = request
    const requestHash = hmac(rootSecret.keys.for(HASHING), textOf(request), 'base64url')
    const claims = { id, apiKeyId, requestHash, nowMs: clock.now(), claimedMs: CLAIMED_MS, keptMs: KEPT_MS }
    const claimedUntilMs = await insertClaim(transaction, claims)
    if (claimedUntilMs !== undefined) return { claimedUntilMs }
    const stored = await lockIdempotentRequest(transaction, id, clock.now())
    if (!stored) throw underWay()
    if (stored.expiresAtMs > stored.nowMs) {
      if (!isSame(request, stored.requestHash)) throw otherRequest()
      if (stored.status !== null) return { stored }
      if (stored.claimedUntilMs > stored.nowMs) throw underWay()
    }
    return { claimedUntilMs: await claimAgain(transaction, claims, stored.nowMs) }
  }

  const createClaim = (id: string, claimedUntilMs: number): Claim => {
    const store = async (transaction: Transaction, { status, content }: Answer): Promise<number> => {
      const answerSealed = seal(rootSecret.keys.for(SEALING), content, id)
      return storeAnswer(transaction, { id, claimedUntilMs, status, answerSealed })
    }
    return {
      async keep(transaction, answer) {
        if ((await store(transaction, answer)) === 0) throw underWay()
      },
      async keepFailure(answer) {
        await db.inTransaction((transaction) => store(transaction, answer))
      },
      async release() {
        await db.inTransaction((transaction) => deleteClaim(transaction, id, claimedUntilMs))
      },
    }
  }

  return {
    async begin(request) {
      const id = `${request.apiKeyId}/${hash('sha256', request.idempotencyKey, 'base64url')}`
      const { stored, claimedUntilMs } = await db.inTransaction((transaction) => claim(transaction, id, request))
      return stored ? { answer: openAnswer(id, stored) } : { claim: createClaim(id, claimedUntilMs) }
    },

    deleteExpired: (nowMs) => inBatches((limit) => deleteRequestsExpiredBy(db, nowMs, limit)),
  }
}

/** Each request with one key must have the same text. */
const textOf = ({ method, target, body }: IdempotentRequest): string =>
  `${method} ${target} ${createHash('sha256').update(body).digest('base64url')}`

const RETRY_AFTER_SECONDS = 1

const underWay = (): AppError =>
  new AppError('conflict', 'The first request with this Idempotency-Key is still under way. Send it again.', {
    field: IDEMPOTENCY_FIELD,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

const otherRequest = (): AppError =>
  new AppError('unprocessable', 'This Idempotency-Key came before, with another body or path. Use a new one.', {
    field: IDEMPOTENCY_FIELD,
  })
