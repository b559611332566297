import type { FirstFactorQueries, ProvingBrowser } from '../../links/first-factor.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** Makes what tells `links.firstFactor` which browser it is. */
export const provingBrowserOf = ({ cookies }: Pick<RequestContext, 'cookies'>): ProvingBrowser => ({
  device: cookies.device,
  link: cookies.link,
})

/** Throws `forbidden` if a link by mail must come before the first second factor or passkey of the user. */
export const requireFirstSetUp = (
  { links }: Pick<Services, 'links'>,
  context: RequestContext,
  userId: string,
): Promise<void> => links.firstFactor.require(userId, provingBrowserOf(context))

/** Does the same for a sign-in that goes on with the set-up, unless it began with a link by mail. */
export const requireFirstEnrolment = async (
  deps: Pick<Services, 'links'>,
  context: RequestContext,
  { way, userId }: PendingSignIn,
): Promise<void> => {
  await deps.links.firstFactor.require(userId, enrollingBrowserOf(context, way))
}

/**
 * These sign-ins begin with a link by mail. A code is none: its reader may have told it to an attacker in another browser,
 * who would set up a factor of their own.
 */
export const BY_MAIL: ReadonlySet<PendingSignIn['way']> = new Set(['recovery', 'verification', 'mail_link'])

const enrollingBrowserOf = (context: RequestContext, way: PendingSignIn['way'] | undefined): ProvingBrowser => ({
  ...provingBrowserOf(context),
  cameByMail: way !== undefined && BY_MAIL.has(way),
})

interface FirstSetUp<Transaction, Result> {
  userId: string
  /** A sign-in that goes on with the set-up began in this way. */
  way?: PendingSignIn['way']
  apply: (transaction: Transaction) => Promise<Result>
}

/** Checks the same once more, in the transaction of a set-up. */
export const asFirstSetUp =
  <Transaction extends FirstFactorQueries, Result>(
    { links }: Pick<Services, 'links'>,
    context: RequestContext,
    { userId, way, apply }: FirstSetUp<Transaction, Result>,
  ) =>
  async (transaction: Transaction): Promise<Result> => {
    await links.firstFactor.require(userId, enrollingBrowserOf(context, way), transaction)
    return apply(transaction)
  }
