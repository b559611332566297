import { userDeviceOf, type Caller } from '../lib/caller.ts'
import type { Notice, NoticeContext } from '../mail/message.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { AccountNotice, Notify } from '../accounts/account-notice.ts'
import { findFormerEmails } from '../accounts/email-store.ts'
import { findUserById, type UserRecord } from '../accounts/user-store.ts'
import type { NotMePurpose } from './link.ts'
import { findLiveLinks } from './link-store.ts'
import type { LinksDeps } from './links-deps.ts'
import { knownDevice } from '../lib/device.ts'

/** svc tries for this long to tell a user what happened. */
export const NOTICE_LIFETIME_MS = 24 * 3_600_000

/** A message tells who did something, and from which address. If there is no device, an operator did it. */
export const noticeContextOf = (email: string, occurredAtMs: number, device: Caller['device']): NoticeContext => ({
  email,
  occurredAtMs,
  by: device ? 'user' : 'operator',
  ...(device && { device: knownDevice(device.userAgent), address: device.address }),
})

/** The link "This wasn't me" is good for this long. */
const NOT_ME_LIFETIME_MS = 72 * 3_600_000

interface NoticesDeps extends Pick<LinksDeps, 'clock' | 'limits' | 'issued' | 'mail'> {
  /** It tells whether users are told about sign-ins from new browsers (`SVC_MAIL_NOTICES`). */
  tellsOfNewBrowsers: boolean
  /** It tells whether users see their usernames (`SVC_USERNAMES`). */
  usernames: boolean
  /** It tells whether an account has an app, a passkey or a recovery code that was made before a time. */
  hadFactor: (queries: Queries, userId: string, beforeMs: number) => Promise<boolean>
}

/** Tells users what happened to their accounts. */
export const createNotify = (deps: NoticesDeps): Notify => {
  const { clock, mail, issued, limits, tellsOfNewBrowsers, usernames, hadFactor } = deps

  /**
   * Tells whether the limits allow another message to the address of the account. Notices of new browsers have their
   * own.
   */
  const mayMail = async (transaction: Transaction, kind: Notice['kind'], user: UserRecord): Promise<boolean> =>
    user.emailVerifiedAtMs !== undefined ||
    kind === 'new_browser' ||
    limits.mayNotifyUnverified(transaction, kind, user.emailLower)

  const isTooMuch = async (transaction: Transaction, { kind }: AccountNotice, { emailLower }: UserRecord) =>
    kind === 'new_browser' && !(tellsOfNewBrowsers && (await limits.mayNotifyOfBrowser(transaction, emailLower)))

  /**
   * Makes the link that removes an added factor or connection. Each kind has a purpose of its own: an attacker could
   * otherwise end the link about their second factor by adding five passkeys. Anything that was made since `beforeMs`
   * may be theirs.
   */
  const createNotMe = async (
    transaction: Transaction,
    { id: userId, emailLower }: UserRecord,
    purpose: NotMePurpose,
    about: Record<string, string>,
    beforeMs = Number.MAX_SAFE_INTEGER,
  ) => {
    const lifetimeMs = NOT_ME_LIFETIME_MS
    const details = { ...about, ...(!(await hadFactor(transaction, userId, beforeMs)) && { hadFactor: 'no' }) }
    const { url } = await issued.create(transaction, { purpose, details, userId, emailLower, lifetimeMs })
    return { url, lifetimeMs }
  }

  const toMessage = async (transaction: Transaction, notice: AccountNotice, user: UserRecord): Promise<Notice> => {
    const { kind } = notice
    if (kind === 'provider_connected') {
      const { provider, identityId } = notice
      return { kind, provider, notMe: await createNotMe(transaction, user, 'not_me', { identityId, provider }) }
    }
    if (kind === 'passkey_added') {
      const { passkeyId, addedAtMs } = notice
      const details = { passkeyId, addedAt: String(addedAtMs) }
      return { kind, notMe: await createNotMe(transaction, user, 'not_my_passkey', details, addedAtMs) }
    }
    if (kind === 'second_factor_set_up') {
      const details = { setUpAt: String(notice.setUpAtMs) }
      return { kind, notMe: await createNotMe(transaction, user, 'not_my_second_factor', details, notice.setUpAtMs) }
    }
    if (kind === 'new_browser') {
      const { deviceHash } = notice
      return { kind, notMe: await createNotMe(transaction, user, 'not_my_browser', { deviceHash }) }
    }
    if (kind === 'application_connected') {
      const { name, isNameVouched, host } = notice
      // A stranger could otherwise write to an address that is not theirs by the name of a client.
      const isNamed = isNameVouched || user.emailVerifiedAtMs !== undefined
      const about = { ...(isNamed && { application: name }), ...(host !== undefined && { host }) }
      return { kind, ...about, notMe: await createNotMe(transaction, user, 'not_my_application', {}) }
    }
    return notice
  }

  return async (transaction, userId, given, caller) => {
    if (given.kind === 'username_changed' && !usernames) return
    const user = mail.isOn ? await findUserById(transaction, userId) : undefined
    if (!user || (await isTooMuch(transaction, given, user))) return
    const nowMs = clock.now()
    const notice = await toMessage(transaction, given, user)
    const message = { ...notice, ...noticeContextOf(user.email, nowMs, userDeviceOf(caller)) }
    // The link is left out, since its end does not end the message: the user must learn of it in any case.
    const rest = { userId, expiresAtMs: nowMs + NOTICE_LIFETIME_MS }
    if (await mayMail(transaction, given.kind, user))
      await mail.write(transaction, { ...rest, to: user.email, message })
    // The owner of the address that was left may be the owner of the account still.
    for (const { to, isByOperator } of await findCopies(transaction, userId, nowMs)) {
      const withoutLink = isByOperator && 'notMe' in message && { notMe: undefined }
      await mail.write(transaction, { ...rest, to, message: { ...message, ...withoutLink, toFormerAddress: true } })
    }
  }
}

/**
 * Finds where copies of notices go. An address that an operator has left may be a thief's: it gets no link that works,
 * but for that which undoes the change.
 */
const findCopies = async (transaction: Transaction, userId: string, nowMs: number) => {
  const former = await findFormerEmails(transaction, userId, nowMs)
  if (former.length === 0) return []
  const live = await findLiveLinks(transaction, { purpose: 'undo', userId, emailLower: '' }, nowMs)
  return former.map((to) => ({
    to,
    isByOperator: live.some(({ emailLower, details }) => emailLower === to && details.by === 'operator'),
  }))
}
