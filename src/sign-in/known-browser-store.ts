import { countWith, insertRow, type Queries } from '../storage/database.ts'

interface KnownBrowser {
  userId: string
  deviceHash: string
}

const idOf = ({ userId, deviceHash }: KnownBrowser): string => `${userId}/${deviceHash}`

/**
 * Notes that the user has signed in again in a browser that their account knows. It resolves to 0 when it knows no such
 * browser.
 */
export const markSeen = (db: Queries, browser: KnownBrowser, nowMs: number): Promise<number> =>
  db.run('UPDATE known_browsers SET seen_at = ? WHERE id = ?', nowMs, idOf(browser))

export const insertKnownBrowser = (db: Queries, browser: KnownBrowser, nowMs: number): Promise<number> =>
  insertRow(db, 'known_browsers', {
    id: idOf(browser),
    user_id: browser.userId,
    device_hash: browser.deviceHash,
    created_at: nowMs,
    seen_at: nowMs,
  })

/** Gives the browser another secret; all accounts that knew it know it by that from now on. */
export const renameBrowser = (db: Queries, oldHash: string, newHash: string): Promise<number> =>
  db.run(
    `UPDATE known_browsers SET device_hash = ?, id = user_id || '/' || ? WHERE device_hash = ?`,
    newHash,
    newHash,
    oldHash,
  )

/** Keeps the browsers that were seen last. */
export const deleteKnownBrowsersAbove = (db: Queries, userId: string, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM known_browsers WHERE user_id = ? AND id NOT IN (
       SELECT id FROM known_browsers WHERE user_id = ? ORDER BY seen_at DESC, id DESC LIMIT ?)`,
    userId,
    userId,
    limit,
  )

/**
 * `trustedUntilMs` is null for a browser that is not trusted. It resolves to undefined if the account does not know the
 * browser.
 */
export const findKnownBrowser = (
  db: Pick<Queries, 'get'>,
  browser: KnownBrowser,
): Promise<{ knownSinceMs: number; trustedUntilMs: number | null } | undefined> =>
  db.get(
    'SELECT created_at AS "knownSinceMs", trusted_until AS "trustedUntilMs" FROM known_browsers WHERE id = ?',
    idOf(browser),
  )

/**
 * Finds when an account got to know a browser, in milliseconds since 1970. It resolves to undefined if it does not know
 * it.
 */
export const findKnownSince = async (
  db: Pick<Queries, 'get'>,
  userId: string,
  deviceHash: string,
): Promise<number | undefined> => (await findKnownBrowser(db, { userId, deviceHash }))?.knownSinceMs

export const updateTrust = (db: Queries, browser: KnownBrowser, untilMs: number): Promise<number> =>
  db.run('UPDATE known_browsers SET trusted_until = ? WHERE id = ?', untilMs, idOf(browser))

export interface KnownBrowserTimes {
  knownSinceMs: number
  lastSeenAtMs: number
  trustedUntilMs: number | null
}

/** Lists the browsers that an account knows, those seen last first. */
export const findKnownBrowsers = (db: Pick<Queries, 'all'>, userId: string): Promise<KnownBrowserTimes[]> =>
  db.all(
    `SELECT created_at AS "knownSinceMs", seen_at AS "lastSeenAtMs", trusted_until AS "trustedUntilMs"
     FROM known_browsers WHERE user_id = ? ORDER BY seen_at DESC, id DESC`,
    userId,
  )

export const countTrusted = (db: Pick<Queries, 'get'>, userId: string, nowMs: number): Promise<number> =>
  countWith(db, 'SELECT COUNT(*) AS count FROM known_browsers WHERE user_id = ? AND trusted_until > ?', userId, nowMs)

export const deleteKnownBrowsers = (db: Queries, userId: string): Promise<number> =>
  db.run('DELETE FROM known_browsers WHERE user_id = ?', userId)

/** Ends the trust in each browser; it stays known. */
export const endTrust = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE known_browsers SET trusted_until = NULL WHERE user_id = ? AND trusted_until IS NOT NULL', userId)
