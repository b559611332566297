import { AppError } from '../lib/errors.ts'
import { MAIL_MISSING, MFA_MISSING } from './errors.ts'
import type { RequestContext } from './request-context.ts'
import { parseReturnTo, type ReturnTargets, readReturnTo, withReturnTo } from './return-to.ts'

/** This says what a user authenticates again for. */
export interface StepUp {
  /**
   * This is a path of the application or of svc. It is undefined for the account page, which then says that it is done.
   */
  returnTo: string | undefined
  /** `mfa` demands more than one factor. */
  acr: 'mfa' | undefined
  /** A sign-in from before this time is not enough, in milliseconds since 1970. It asks for more, and never for less. */
  since?: number | undefined
}

/** A user who has asked for nothing else goes to this page. */
export const ACCOUNT_PATH = '/auth/account'

const CONFIRM_PATH = '/auth/account/confirm'
const FIRST_FACTOR_PATH = '/auth/account/first-factor'

/** Makes the path of the page on which a user authenticates again. */
export const confirmPath = ({ returnTo, acr, since }: StepUp): string => {
  const path = withReturnTo(CONFIRM_PATH, returnTo)
  const more = [...(acr ? [`acr=${acr}`] : []), ...(since === undefined ? [] : [`since=${since}`])]
  return more.length > 0 ? `${path}${path === CONFIRM_PATH ? '?' : '&'}${more.join('&')}` : path
}

/** Makes the path of the page that sends a link before a first second factor or passkey is set up. */
export const firstFactorPath = (returnTo: string | undefined): string => withReturnTo(FIRST_FACTOR_PATH, returnTo)

/** Names the page on which the user proves what an error asks for (`needsProof`). */
export const proofPathFor = ({ reason }: AppError, returnTo?: string): string =>
  reason === MAIL_MISSING
    ? firstFactorPath(returnTo)
    : confirmPath({ returnTo, acr: reason === MFA_MISSING ? 'mfa' : undefined })

/**
 * Makes the path of the account page after a change. The browser goes to the place of the page that says so; if that is
 * not known, to the message itself, which stands at `at`.
 */
export const accountPathAfter = (
  what: string,
  { place = 'done', at }: { place?: string | undefined; at?: string | undefined },
): string => `${ACCOUNT_PATH}?done=${what}${at === undefined ? '' : `&at=${at}`}#${place}`

/** Finds the section of the account page that a confirmation is for. */
const sectionOf = ({ returnTo = '' }: StepUp): string | undefined => /^\/auth\/account#([\w-]+)$/.exec(returnTo)?.[1]

/** Tells whether the confirmation is for a change on the account page itself. */
export const isForAccountPage = (stepUp: StepUp): boolean =>
  stepUp.returnTo === undefined || sectionOf(stepUp) !== undefined

/** Names the page to which the user goes afterwards. */
export const targetOf = (stepUp: StepUp): string =>
  stepUp.returnTo === undefined || isForAccountPage(stepUp)
    ? accountPathAfter('confirmed', { at: sectionOf(stepUp) })
    : stepUp.returnTo

/**
 * Tells whether the confirmation is for a change of the account. A provider that is trusted with the second factor is
 * then enough.
 */
export const isForAccount = (stepUp: StepUp): boolean =>
  isForAccountPage(stepUp) ||
  stepUp.returnTo === ACCOUNT_PATH ||
  stepUp.returnTo?.startsWith(`${ACCOUNT_PATH}/`) === true

/**
 * Reads what the address or the form of the page asks for. It throws `invalid_request` for a value that is not
 * accepted.
 */
export const readStepUp = (context: RequestContext, targets: ReturnTargets): StepUp => {
  const { form, query } = context
  const acr = form.get('acr') ?? query.get('acr')
  if (acr !== undefined && acr !== 'mfa')
    throw new AppError('invalid_request', 'The field "acr" is mfa, or left out.', { field: 'acr' })
  const since = query.get('since')
  return {
    returnTo: readReturnTo(context, targets, undefined),
    acr,
    ...(since !== undefined && /^\d{1,15}$/.test(since) && { since: Number(since) }),
  }
}

/** A refused form of these pages of svc leads back to its page. */
const OWN_PAGES: ReadonlySet<string> = new Set(['/auth/account/second-factor', '/auth/login/enrol'])

/**
 * Finds the page that the request was for, to come back to. It is undefined for the forms of the account page, and for
 * an address that is not accepted.
 */
export const pageOf = ({ method, target }: RequestContext, targets: ReturnTargets): string | undefined => {
  const path = target.replace(/\?.*/s, '')
  const isPage = method === 'GET' || method === 'HEAD' ? path !== ACCOUNT_PATH : OWN_PAGES.has(path)
  return isPage ? parseReturnTo(target, targets) : undefined
}

/** Names the page for a user who must log in before they authenticate again for something. */
export const stepUpAfterLogin =
  (targets: ReturnTargets) =>
  (context: RequestContext): string => {
    const stepUp = readStepUp(context, targets)
    const isPlain = isForAccountPage(stepUp) && stepUp.acr === undefined
    return isPlain ? (stepUp.returnTo ?? ACCOUNT_PATH) : confirmPath(stepUp)
  }
