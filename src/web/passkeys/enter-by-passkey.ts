import type { Connectable } from '../../links/entry-row.ts'
import { ENTRY_EVENTS, type EntryPurpose, isEntryPurpose, type Link } from '../../links/link.ts'
import { AppError } from '../../lib/errors.ts'
import type { AddedPasskey, CheckedRegistration } from '../../passkeys/passkeys.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { returnToOfEntry } from '../sign-in/asking-browser.ts'
import { findSessionsBeside } from '../sign-in/link-token.ts'
import { beforeWaysIn } from '../sign-in/ways-in.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { showRecoveryCodes } from '../sign-in/shown-codes.ts'
import { added } from './passkey-answer.ts'

/**
 * A user who has followed a link has made a passkey in place of a password. One transaction uses the link up, changes
 * the account as with a provider, adds the passkey, and starts a session.
 */
export const createEnterByPasskey = (deps: SignInServices & Pick<Services, 'accountLog' | 'passkeys'>) => {
  const { links, accountLog } = deps
  const askedFactor = createAskedFactor(deps)

  const codesPath = (context: RequestContext, userId: string, { recoveryCodes: codes }: AddedPasskey, path: string) =>
    codes ? showRecoveryCodes(deps, context, { userId, codes, returnTo: path, done: 'passkey_added' }) : path

  const enterBy = async (
    context: RequestContext,
    named: LinkToPasskey,
    check: () => Promise<CheckedRegistration>,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const { link, userId } = named
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const factor = await askedFactor.prove(
      context,
      await links.entry.findAsked({ link, isOwnSession }),
      textsOf(context),
    )
    const checked = await check()
    let stored: AddedPasskey | undefined
    const chosen: Connectable = {
      proof: 'link',
      method: 'passkey',
      // The link has come to this address.
      verifiedEmail: { shown: link.emailLower, lower: link.emailLower },
      async connect(transaction) {
        stored = await checked.apply(transaction)
      },
    }
    const { grant, apply: also } = await links.entry.check({ link, chosen, isOwnSession, factor, caller: context })
    const signIn = { way: 'recovery', grant, facts, also, browser: 'silent' } as const
    const returnTo = await returnToOfEntry(deps, context, link)
    const response = await completeSignIn(deps, context, {
      ...signIn,
      returnTo: async () => {
        const path = await beforeWaysIn(deps, userId, returnTo)
        return stored ? codesPath(context, userId, stored, path) : path
      },
    })
    if (!response || !stored || !('redirect' in response)) throw noEntry()
    accountLog.record(context, { event: 'passkey_add', userId, passkeyId: stored.passkey.id })
    return added(stored.passkey, response.redirect)
  }
  return (
    context: RequestContext,
    link: LinkToPasskey,
    check: () => Promise<CheckedRegistration>,
  ): Promise<HttpResponse> => {
    const event: EventFacts = { event: ENTRY_EVENTS[link.purpose], method: 'passkey', userId: link.userId }
    return accountLog.recordOutcome(context, event, (facts) => enterBy(context, link, check, facts))
  }
}

/** Picks the members of the body that are text, as the fields of a form. */
const textsOf = ({ json }: RequestContext) => ({
  get(name: string): string | undefined {
    const value = json[name]
    if (typeof value === 'string' || value === undefined) return value
    return JSON.stringify(value)
  },
})

/** The account is disabled, or was deleted after the link was read. */
const noEntry = (): AppError => new AppError('forbidden', 'This account cannot be entered now.', { reason: 'disabled' })

/** This is a live link that lets its user add a passkey. */
export interface LinkToPasskey {
  purpose: EntryPurpose
  link: Link
  userId: string
}

/**
 * Finds the link that a script names by `purpose` and `token`. The result is undefined if it names none. A link that
 * lets nobody add a passkey, such as a link to a new password, is `invalid_request`; a link that is not good is a
 * `DeadLinkError`.
 */
export const findLinkToPasskey = async (
  { links }: Pick<Services, 'links'>,
  { json: { purpose, token } }: RequestContext,
): Promise<LinkToPasskey | undefined> => {
  if (purpose === undefined && token === undefined) return undefined
  if (typeof token !== 'string') throw new AppError('invalid_request', 'token must be text.', { field: 'token' })
  if (typeof purpose !== 'string' || !isEntryPurpose(purpose) || !links.takesConnectable(purpose)) {
    throw new AppError('invalid_request', 'purpose must be that of a link which adds a passkey.', { field: 'purpose' })
  }
  const link = await links.issued.require([purpose], token)
  return { purpose, link, userId: link.userId ?? '' }
}
