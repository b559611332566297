import { AppError } from '../lib/errors.ts'
import type { AccountDone } from '../pages/site/account-done.ts'
import { MAIL_MISSING, MFA_MISSING } from './errors.ts'
import type { RequestContext } from './request-context.ts'
import { parseReturnTo, type ReturnTargets, readReturnTo, withReturnTo } from './return-to.ts'

/** What a user authenticates again for. */
export interface StepUp {
  /** A path of the application or of svc; undefined for the account page, which then says that it is done. */
  returnTo: string | undefined
  /** `mfa`: only with more than one factor. */
  acr: 'mfa' | undefined
}

/** Where a user goes who has asked for nothing else. */
export const ACCOUNT_PATH = '/auth/account'

const CONFIRM_PATH = '/auth/account/confirm'
const FIRST_FACTOR_PATH = '/auth/account/first-factor'

/** The page on which a user authenticates again. */
export const confirmPath = ({ returnTo, acr }: StepUp): string => {
  const path = withReturnTo(CONFIRM_PATH, returnTo)
  return acr ? `${path}${path === CONFIRM_PATH ? '?' : '&'}acr=${acr}` : path
}

/** The page that sends a link before a first second factor or passkey is set up. */
export const firstFactorPath = (returnTo: string | undefined): string => withReturnTo(FIRST_FACTOR_PATH, returnTo)

/** Where the user proves what an error asks for (`needsProof`). */
export const proofPathFor = ({ reason }: AppError, returnTo?: string): string =>
  reason === MAIL_MISSING
    ? firstFactorPath(returnTo)
    : confirmPath({ returnTo, acr: reason === MFA_MISSING ? 'mfa' : undefined })

/** The account page, at the message that says what was done. */
export const accountPathAfter = (what: AccountDone, section?: string): string =>
  `${ACCOUNT_PATH}?done=${what}${section === undefined ? '' : `&at=${section}`}#done`

/** The section of the account page that a confirmation is for. */
const sectionOf = ({ returnTo = '' }: StepUp): string | undefined => /^\/auth\/account#([\w-]+)$/.exec(returnTo)?.[1]

/** Whether it is for a change on the account page itself. */
export const isForAccountPage = (stepUp: StepUp): boolean =>
  stepUp.returnTo === undefined || sectionOf(stepUp) !== undefined

/** Where the user goes afterwards. */
export const targetOf = (stepUp: StepUp): string =>
  stepUp.returnTo === undefined || isForAccountPage(stepUp)
    ? accountPathAfter('confirmed', sectionOf(stepUp))
    : stepUp.returnTo

/** Whether it is for a change of the account, for which a provider that is trusted with the second factor is enough. */
export const isForAccount = (stepUp: StepUp): boolean =>
  isForAccountPage(stepUp) ||
  stepUp.returnTo === ACCOUNT_PATH ||
  stepUp.returnTo?.startsWith(`${ACCOUNT_PATH}/`) === true

/** What the address or the form of the page asks for; `invalid_request` for what is not accepted. */
export const readStepUp = (context: RequestContext, targets: ReturnTargets): StepUp => {
  const { form, query } = context
  const acr = form.get('acr') ?? query.get('acr')
  if (acr !== undefined && acr !== 'mfa')
    throw new AppError('invalid_request', 'The field "acr" is mfa, or left out.', { field: 'acr' })
  return { returnTo: readReturnTo(context, targets, undefined), acr }
}

/** Pages of svc that a refused form of theirs leads back to. */
const OWN_PAGES: ReadonlySet<string> = new Set(['/auth/account/second-factor', '/auth/login/enrol'])

/**
 * The page that the request was for, to come back to; undefined for the forms of the account page, and for an address
 * that is not accepted.
 */
export const pageOf = ({ method, target }: RequestContext, targets: ReturnTargets): string | undefined => {
  const path = target.replace(/\?.*/s, '')
  const isPage = method === 'GET' || method === 'HEAD' ? path !== ACCOUNT_PATH : OWN_PAGES.has(path)
  return isPage ? parseReturnTo(target, targets) : undefined
}

/** Where a user goes who must log in before they authenticate again for something. */
export const stepUpAfterLogin =
  (targets: ReturnTargets) =>
  (context: RequestContext): string => {
    const stepUp = readStepUp(context, targets)
    const isPlain = isForAccountPage(stepUp) && stepUp.acr === undefined
    return isPlain ? (stepUp.returnTo ?? ACCOUNT_PATH) : confirmPath(stepUp)
  }
