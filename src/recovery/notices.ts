import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { Notice } from '../mail/message.ts'
import type { Transaction } from '../storage/database.ts'
import type { AccountNotice, Notify } from '../users/account-notice.ts'
import { findUserById, type UserRecord } from '../users/user-store.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'
import { noticeContextOf } from './notice-context.ts'

/** How long svc tries to tell a user what happened. */
const NOTICE_LIFETIME_MS = 24 * 3_600_000

/** How long "This wasn't me" is good. */
const NOT_ME_LIFETIME_MS = 72 * 3_600_000

interface NoticesDeps {
  clock: Clock
  mail: Mail
  links: Links
  limits: MailLimits
  baseUrl: string
  /** `SVC_MAIL_NOTICES`: whether users are told about sign-ins from new browsers. */
  tellsOfNewBrowsers: boolean
}

/** Tells users what happened to their accounts. */
export const createNotify = (deps: NoticesDeps): Notify => {
  const { clock, mail, links, limits, baseUrl, tellsOfNewBrowsers } = deps

  /** Whether the limits allow another message to this address. */
  const mayMail = async (transaction: Transaction, { kind }: AccountNotice, user: UserRecord): Promise<boolean> => {
    if (kind === 'new_browser' && !(await limits.mayNotifyOfBrowser(transaction, user.emailLower))) return false
    return user.emailVerifiedAtMs !== undefined || limits.mayMailUnverified(transaction, user.emailLower, false)
  }

  /** The link that removes what was added. */
  const createNotMe = async (
    transaction: Transaction,
    { id, emailLower }: UserRecord,
    added: Record<string, string>,
  ) => {
    const { link, token } = await links.create(transaction, {
      purpose: 'not_me',
      userId: id,
      emailLower,
      details: added,
      lifetimeMs: NOT_ME_LIFETIME_MS,
    })
    const notMe = { url: `${baseUrl}/auth/account/not-me?token=${token}`, expiresAtMs: link.expiresAtMs }
    return { linkId: link.id, notMe }
  }

  const describe = async (
    transaction: Transaction,
    notice: AccountNotice,
    user: UserRecord,
  ): Promise<{ linkId?: string; notice: Notice }> => {
    if (notice.kind === 'provider_connected') {
      const { kind, provider, identityId } = notice
      const { linkId, notMe } = await createNotMe(transaction, user, { identityId, provider })
      return { linkId, notice: { kind, provider, notMe } }
    }
    if (notice.kind === 'new_browser') {
      const { kind, deviceHash } = notice
      const { linkId, notMe } = await createNotMe(transaction, user, { deviceHash })
      return { linkId, notice: { kind, notMe } }
    }
    return { notice }
  }

  return async (transaction, userId, given, caller) => {
    if (!mail.isOn || (given.kind === 'new_browser' && !tellsOfNewBrowsers)) return
    const user = await findUserById(transaction, userId)
    if (!user || !(await mayMail(transaction, given, user))) return
    const { notice, linkId } = await describe(transaction, given, user)
    const nowMs = clock.now()
    await mail.write(transaction, {
      to: user.email,
      userId,
      message: { ...notice, ...noticeContextOf(user.email, nowMs, caller?.device) },
      linkId,
      expiresAtMs: nowMs + NOTICE_LIFETIME_MS,
    })
  }
}
