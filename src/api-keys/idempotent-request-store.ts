import { MOMENT, type Queries } from '../storage/database.ts'

interface Claims {
  id: string
  apiKeyId: string
  requestHash: string
  /** The clock of this process says it; where the database has a server, that one's clock counts. */
  nowMs: number
  claimedMs: number
  keptMs: number
}

/** Makes the row of a request, and resolves to the end of its claim; undefined when there is a row already. */
export const insertClaim = async (db: Queries, claims: Claims): Promise<number | undefined> => {
  const { id, apiKeyId, requestHash, nowMs, claimedMs, keptMs } = claims
  const row = await db.get<{ claimed_until: number }>(
    `INSERT INTO idempotent_requests (id, api_key_id, request_hash, claimed_until, created_at, expires_at)
     VALUES (?, ?, ?, COALESCE(server_time(), ?) + ?, COALESCE(server_time(), ?), COALESCE(server_time(), ?) + ?)
     ON CONFLICT (id) DO NOTHING RETURNING claimed_until`,
    id,
    apiKeyId,
    requestHash,
    nowMs,
    claimedMs,
    nowMs,
    nowMs,
    keptMs,
  )
  return row?.claimed_until
}

export interface StoredRequest {
  requestHash: string
  claimedUntilMs: number
  /** It is null until the answer is known. */
  status: number | null
  answerSealed: string | null
  expiresAtMs: number
  /** The same clock says it as the other times. */
  nowMs: number
}

export const lockIdempotentRequest = (db: Queries, id: string, nowMs: number): Promise<StoredRequest | undefined> =>
  db.get(
    `SELECT request_hash AS "requestHash", claimed_until AS "claimedUntilMs", status, answer_sealed AS "answerSealed",
       expires_at AS "expiresAtMs", COALESCE(server_time(), ?) AS "nowMs"
     FROM idempotent_requests WHERE id = ? FOR UPDATE`,
    nowMs,
    id,
  )

/** Takes over a request whose claim or answer has expired, in the transaction that has locked it. */
export const claimAgain = async (
  db: Queries,
  { id, requestHash, claimedMs, keptMs }: Claims,
  nowMs: number,
): Promise<number> => {
  await db.run(
    `UPDATE idempotent_requests SET request_hash = ?, claimed_until = ?, status = NULL, answer_sealed = NULL,
       created_at = ?, expires_at = ? WHERE id = ?`,
    requestHash,
    nowMs + claimedMs,
    nowMs,
    nowMs + keptMs,
    id,
  )
  return nowMs + claimedMs
}

/** The end of a claim tells it from every other claim of the same request. */
interface StoredAnswer {
  id: string
  claimedUntilMs: number
  status: number
  answerSealed: string
}

/** Resolves to 0 when another process has claimed the request since. */
export const storeAnswer = (db: Queries, { id, claimedUntilMs, status, answerSealed }: StoredAnswer): Promise<number> =>
  db.run(
    'UPDATE idempotent_requests SET status = ?, answer_sealed = ? WHERE id = ? AND claimed_until = ? AND status IS NULL',
    status,
    answerSealed,
    id,
    claimedUntilMs,
  )

export const deleteClaim = (db: Queries, id: string, claimedUntilMs: number): Promise<number> =>
  db.run('DELETE FROM idempotent_requests WHERE id = ? AND claimed_until = ? AND status IS NULL', id, claimedUntilMs)

/** Deletes at most `limit` requests, for cleanup, by the same clock as a claim; resolves to how many. */
export const deleteRequestsExpiredBy = (db: Queries, nowMs: number, limit: number): Promise<number> =>
  // The condition stands twice: while the statement waited for its row, a request may have been claimed again.
  db.run(
    `WITH ${MOMENT}
     DELETE FROM idempotent_requests WHERE id IN (
         SELECT id FROM idempotent_requests WHERE expires_at <= (SELECT now FROM moment) ORDER BY expires_at LIMIT ?)
       AND expires_at <= (SELECT now FROM moment)`,
    nowMs,
    limit,
  )
