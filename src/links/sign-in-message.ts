import { isEmailTaken } from '../accounts/email-store.ts'
import { findUserByEmail, findUserById, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import type { KnownDevice } from '../lib/device.ts'
import { readEmail } from '../lib/email-address.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { MessageOf } from '../mail/message.ts'
import { findKnownSince } from '../sign-in/known-browser-store.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { type Link, urlOfLink } from './link.ts'
import { bindLink, endLink, findLinkById, findLiveLinksTo } from './link-store.ts'
import type { LinksDeps } from './links-deps.ts'
import type { MailCodes } from './mail-codes.ts'

/** So many messages to one address may be good at the same time; the oldest gives way. */
const MAX_LIVE = 3

/** Tells whether an account knows a browser by the hash of its secret. */
export const isKnownTo = async (
  queries: Pick<Queries, 'get'>,
  userId: string,
  deviceHash: string | undefined,
): Promise<boolean> => deviceHash !== undefined && (await findKnownSince(queries, userId, deviceHash)) !== undefined

type SignInMessageDeps = Pick<
  LinksDeps,
  'baseUrl' | 'clock' | 'emailDomains' | 'hasPasskey' | 'issued' | 'limits' | 'signIn'
> & { codes: MailCodes }

type Prepared = (Partial<OutgoingMessage> & Pick<OutgoingMessage, 'message' | 'userId'>) | undefined

/** This is the message as far as it is known before the address is looked up. */
type About = Omit<MessageOf<'sign_in_by_passkey'>, 'kind'>

/**
 * Makes the message that was asked for, in the background: the code and the link, or for an account with a passkey, the
 * link alone. It resolves to undefined for an address whose owner cannot sign in, and past the limits; the link ends
 * then.
 */
export const createPrepareSignIn = (deps: SignInMessageDeps) => {
  const { baseUrl, clock, codes, emailDomains, hasPasskey, issued, limits, signIn } = deps

  /** Links in browsers that the account knows give way to one another alone: strangers end none of them. */
  const giveWay = async (transaction: Transaction, link: Link, isKnown: boolean, userId = ''): Promise<void> => {
    const live = await findLiveLinksTo(transaction, link, clock.now())
    const older: Link[] = []
    for (const other of live.filter(({ id }) => id < link.id))
      if ((await isKnownTo(transaction, userId, other.details.device)) === isKnown) older.push(other)
    for (const { id } of older.slice(MAX_LIVE - 1)) await endLink(transaction, id, 'replaced', clock.now())
  }

  const mayMail = async (transaction: Transaction, { emailLower }: Link, isVerified: boolean, knownBrowser?: string) =>
    (await limits.mayAsk(transaction, { purpose: 'sign_in', emailLower, knownBrowser })) &&
    (isVerified || limits.mayMailUnverified(transaction, 'sign_in', emailLower))

  const toUser = async (transaction: Transaction, user: UserRecord, link: Link, about: About): Promise<Prepared> => {
    const { id: userId, email } = user
    const isVerified = user.emailVerifiedAtMs !== undefined
    const isKnown = await isKnownTo(transaction, userId, link.details.device)
    if (!(await mayMail(transaction, link, isVerified, isKnown ? link.details.device : undefined))) return undefined
    await bindLink(transaction, link.id, userId)
    await giveWay(transaction, link, isKnown, userId)
    const rest = { ...about, email }
    // Nobody has proved the address before: a passkey may be that of an attacker who lies in wait for its owner.
    if (isVerified && !isKnown && signIn.withPasskey === 'known' && (await hasPasskey(transaction, userId)))
      return { userId, message: { kind: 'sign_in_by_passkey', ...rest } }
    const code = await codes.create(transaction, link.id)
    return { userId, message: { kind: 'sign_in', ...rest, code, ...(!isVerified && { reclaims: true }) } }
  }

  const toNobody = async (transaction: Transaction, link: Link, about: About): Promise<Prepared> => {
    const email = readEmail(link.emailLower)
    if (!signIn.signupOpen || !email || !emailDomains.accepts(email)) return undefined
    if (!(await mayMail(transaction, link, false))) return undefined
    const { url: _url, lifetimeMs: _lifetime, network: _network, ...reserved } = about
    if (await isEmailTaken(transaction, link.emailLower, clock.now()))
      return { userId: undefined, message: { kind: 'email_reserved', ...reserved }, linkId: undefined }
    await giveWay(transaction, link, false)
    const code = await codes.create(transaction, link.id)
    return { userId: undefined, message: { kind: 'sign_in_new', ...about, code } }
  }

  const prepareFor = async (transaction: Transaction, link: Link, about: About): Promise<Prepared> => {
    const found = await findUserByEmail(transaction, link.emailLower)
    if (!found) return toNobody(transaction, link, about)
    await lockUserToChange(transaction, found.id)
    const user = await findUserById(transaction, found.id)
    return !user || user.disabled || user.emailLower !== link.emailLower
      ? undefined
      : toUser(transaction, user, link, about)
  }

  return async (transaction: Transaction, { to, details, expiresAtMs }: MailRequest) => {
    const { linkId = '', token = '', network, device = '{}', language } = details
    const link = await findLinkById(transaction, linkId)
    if (!link || !(await issued.isLive(linkId, transaction))) return undefined
    const prepared = await prepareFor(transaction, link, {
      email: to,
      occurredAtMs: link.createdAtMs,
      device: JSON.parse(device) as KnownDevice,
      language,
      network,
      url: urlOfLink(baseUrl, 'sign_in', token),
      lifetimeMs: link.expiresAtMs - link.createdAtMs,
    })
    if (!prepared || 'linkId' in prepared) await endLink(transaction, linkId, 'ended', clock.now())
    return prepared && { to: prepared.message.email, linkId, expiresAtMs, ...prepared }
  }
}
