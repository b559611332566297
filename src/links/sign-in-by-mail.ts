import type { Caller } from '../lib/caller.ts'
import { type KnownDevice, knownDevice } from '../lib/device.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { OwnSession, SignInGrant } from '../sessions/sign-in-grant.ts'
import { amrOf } from '../sign-in/amr.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { findUserById, lockUser, lockUserToChange } from '../accounts/user-store.ts'
import { DeadLinkError, emailOfLink, isAccountOf, type Link, SIGN_IN_MS } from './link.ts'
import type { CheckedEntry } from './entry.ts'
import type { LinksDeps } from './links-deps.ts'
import type { MailCodes } from './mail-codes.ts'
import { deletePendingSignups } from './pending-signup-store.ts'
import { createPrepareSignIn, isKnownTo } from './sign-in-message.ts'

interface SignInRequest {
  email: Email
  returnTo: string
  /** The browser is recognised by this hash when the code is typed, and the link opened. */
  browser: string
  /** Accounts know the browser by this hash. */
  deviceHash: string | undefined
}

interface OperatorLink {
  /** It is the whole address. */
  url: string
  expiresAtMs: number
}

/** Signs users in by messages that have a code and a link (CONTRACT.md 4.21). */
export interface SignInByMail {
  /** It tells whether users sign in by mail. The link of an operator works in any case. */
  readonly isOn: boolean
  /**
   * Asks for a message. Nothing is looked up, so that the response takes the same time for every address. Past the
   * limits nothing is sent, and nothing tells that.
   */
  ask(request: SignInRequest, caller: Caller): Promise<void>
  /** Makes the message in the background; it resolves to undefined if there is none for this address. */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
  /** Sends a code, by which the user of a session signs in again, to their address. Past the limits nothing is sent. */
  askToConfirm(session: OwnSession, browser: string, caller: Caller): Promise<void>
  /** Gives the grant of such a code; `apply` uses the code up, and throws a `DeadLinkError` when another was first. */
  confirm(link: Link, caller: Caller): Promise<CheckedEntry>
  /** An operator hands the link over. It throws `conflict` for an account to which nobody can sign in. */
  createByOperator(userId: string): Promise<OperatorLink>
  /** Tells whether an account has a passkey that must be used in this browser, in place of a code or a link. */
  needsPasskey(userId: string, deviceHash: string | undefined, queries?: Queries): Promise<boolean>
  /**
   * Makes the account of an address that had none when its owner asked for the message. It throws `unprocessable` for a
   * missing name, and then the link stays good; a `DeadLinkError` when another request was first.
   */
  createAccount(
    link: Link,
    given: { name: string | null | undefined; method: string },
    caller: Caller,
  ): Promise<SignInGrant>
}

type SignInByMailDeps = Pick<
  LinksDeps,
  'baseUrl' | 'clock' | 'db' | 'emailDomains' | 'hasPasskey' | 'issued' | 'limits' | 'mail' | 'markVerified' | 'names'
> &
  Pick<LinksDeps, 'notify' | 'recordEvent' | 'signIn' | 'users'> & { codes: MailCodes }

/** Sends the codes by which the users of sessions sign in again. They are good for those sessions alone. */
const createConfirmation = (deps: SignInByMailDeps): Pick<SignInByMail, 'askToConfirm' | 'confirm'> => {
  const { db, clock, codes, issued, limits, mail, markVerified, recordEvent } = deps
  return {
    askToConfirm: ({ userId, sessionId }, browser, caller) =>
      db.inTransaction(async (transaction) => {
        const user = await lockUserToChange(transaction, userId)
        if (!user || !(await limits.mayAsk(transaction, { purpose: 'confirm', userId }))) return
        const { email, emailLower } = user
        const details = { browser, email, session: sessionId }
        const made = { purpose: 'confirm', userId, emailLower, details, lifetimeMs: SIGN_IN_MS } as const
        const { link } = await issued.create(transaction, made)
        await codes.insert(transaction, link, browser)
        const code = await codes.create(transaction, link.id)
        const { id: linkId, expiresAtMs } = link
        const about = { email, occurredAtMs: clock.now(), device: deviceOf(caller), network: caller.network }
        const message = { kind: 'confirm_code', ...about, code, lifetimeMs: SIGN_IN_MS } as const
        await mail.write(transaction, { to: email, userId, message, linkId, expiresAtMs })
        await recordEvent(transaction, { type: 'login.email_requested', userId, sessionId }, caller)
      }),

    confirm: async (link, caller) => {
      const { userId = '' } = link
      return {
        grant: {
          userId,
          amr: amrOf('mail'),
          authenticatedAtMs: clock.now(),
          isStillValid: async (queries) => isAccountOf(await lockUser(queries, userId), link),
        },
        async apply(transaction) {
          const user = await lockUserToChange(transaction, userId)
          await issued.use(transaction, link)
          if (user?.emailVerifiedAtMs === undefined) await markVerified(transaction, userId, caller)
        },
      }
    },
  }
}

export const createSignInByMail = (deps: SignInByMailDeps): SignInByMail => {
  const { db, codes, hasPasskey, issued, limits, mail, names, notify, recordEvent, signIn, users } = deps

  return {
    isOn: signIn.isOn,
    prepare: createPrepareSignIn(deps),
    ...createConfirmation(deps),

    ask: ({ email, returnTo, browser, deviceHash }, caller) =>
      db.inTransaction(async (transaction) => {
        const { network } = caller
        if (!(await limits.mayAsk(transaction, { purpose: 'sign_in', network }))) return
        const details = { browser, device: deviceHash, returnTo, email: email.shown }
        const made = { purpose: 'sign_in', userId: undefined, emailLower: email.lower, details } as const
        const { link, token } = await issued.create(transaction, { ...made, lifetimeMs: SIGN_IN_MS })
        await codes.insert(transaction, link, browser)
        await mail.request(transaction, {
          purpose: 'sign_in',
          to: email.shown,
          details: {
            linkId: link.id,
            token,
            network,
            device: JSON.stringify(deviceOf(caller)),
            language: caller.language,
          },
          expiresAtMs: link.expiresAtMs,
        })
      }),

    createByOperator: (userId) =>
      db.inTransaction(async (transaction) => {
        const user = await lockUserToChange(transaction, userId)
        if (!user) throw new AppError('not_found', `There is no user ${userId}.`)
        if (user.disabled) throw noEntry('The account is disabled: enable it first.')
        if (user.invitedAtMs !== undefined)
          throw noEntry('Nobody has entered the account yet: svc users invite makes a link for its user.')
        const details = { email: user.email, by: 'operator', provesEmail: 'no' }
        const made = { purpose: 'sign_in', userId, emailLower: user.emailLower, details } as const
        const { link, url } = await issued.create(transaction, { ...made, lifetimeMs: SIGN_IN_MS })
        await recordEvent(transaction, { type: 'login.link_created', userId })
        await notify(transaction, userId, { kind: 'sign_in_link_created' })
        return { url, expiresAtMs: link.expiresAtMs }
      }),

    async needsPasskey(userId, deviceHash, queries = db) {
      const user = await findUserById(queries, userId)
      if (user?.emailVerifiedAtMs === undefined || signIn.withPasskey === 'always') return false
      return (await hasPasskey(queries, userId)) && !(await isKnownTo(queries, userId, deviceHash))
    },

    async createAccount(link, { name, method }, caller) {
      const signup = {
        email: emailOfLink(link),
        username: undefined,
        name: names.require(name),
        language: caller.language ?? null,
        passwordHash: null,
      }
      const grant = await orDead(() =>
        users.createVerified(
          { ...signup, method },
          async (transaction) => {
            await issued.use(transaction, link)
            // The address has an account now: signups with it that wait have nothing left to prove.
            await issued.replace(transaction, { ...link, purpose: 'signup' })
            await deletePendingSignups(transaction, link.emailLower)
          },
          caller,
        ),
      )
      return { ...grant, amr: amrOf('mail') }
    },
  }
}

const deviceOf = ({ device }: Caller): KnownDevice => knownDevice(device?.userAgent ?? '')

const noEntry = (message: string): AppError => new AppError('conflict', message)

/** The address has got an account in the meantime, or is reserved by now: this link will never be good again. */
const orDead = async <T>(create: () => Promise<T>): Promise<T> => {
  try {
    return await create()
  } catch (error) {
    if (error instanceof AppError && error.reason === 'email_taken') throw new DeadLinkError('sign_in', 'ended')
    throw error
  }
}
