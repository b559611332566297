import { insertRow, type Queries } from '../storage/database.ts'
import type { Link, LinkEnd, LinkPurpose } from './link.ts'

/** A code beside a link, in any state of the link. */
export interface MailCode extends Pick<Link, 'purpose' | 'userId' | 'emailLower' | 'details' | 'expiresAtMs'> {
  linkId: string
  /** Null: nobody was sent a code. */
  codeHash: string | null
  tries: number
  endedBy: LinkEnd | null
}

export const insertMailCode = (
  db: Queries,
  code: { linkId: string; browser: string; codeHash?: string },
): Promise<number> =>
  insertRow(db, 'mail_codes', {
    link_id: code.linkId,
    browser: code.browser,
    code_hash: code.codeHash ?? null,
    tries: 0,
  })

export const updateCodeHash = (db: Queries, linkId: string, codeHash: string): Promise<number> =>
  db.run('UPDATE mail_codes SET code_hash = ? WHERE link_id = ?', codeHash, linkId)

/** Makes those wait that try codes of the same browser, until the transaction ends. */
export const lockMailCodes = (db: Queries, browser: string): Promise<unknown> =>
  db.all('SELECT link_id FROM mail_codes WHERE browser = ? ORDER BY link_id FOR UPDATE', browser)

/** Finds the codes that a browser has asked for and whose time is not over, the newest first. */
export const findMailCodes = async (
  db: Queries,
  { browser, purpose, nowMs }: { browser: string; purpose: LinkPurpose; nowMs: number },
): Promise<MailCode[]> => {
  const rows = await db.all<Omit<MailCode, 'details' | 'userId'> & { details: string; userId: string | null }>(
    `SELECT link_id AS "linkId", code_hash AS "codeHash", tries, purpose, user_id AS "userId",
       email_lower AS "emailLower", details, expires_at AS "expiresAtMs", ended_by AS "endedBy"
     FROM mail_codes JOIN links ON links.id = mail_codes.link_id
     WHERE mail_codes.browser = ? AND links.purpose = ? AND links.expires_at > ? ORDER BY links.id DESC`,
    browser,
    purpose,
    nowMs,
  )
  return rows.map(({ details, userId, ...row }) => ({
    ...row,
    userId: userId ?? undefined,
    details: JSON.parse(details) as Link['details'],
  }))
}

/** Counts a try of a code, or takes one back. */
export const addToTries = (db: Queries, linkId: string, by: 1 | -1): Promise<number> =>
  db.run('UPDATE mail_codes SET tries = tries + ? WHERE link_id = ?', by, linkId)
