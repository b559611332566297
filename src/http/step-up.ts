import { AppError } from '../lib/errors.ts'
import { MFA_MISSING } from './errors.ts'
import type { RequestContext } from './request-context.ts'
import { findReturnTo, type ReturnTargets, readReturnTo } from './return-to.ts'

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

/** The page on which a user authenticates again. */
export const confirmPath = ({ returnTo, acr }: StepUp): string => {
  const query = new URLSearchParams()
  if (returnTo !== undefined) query.set('return_to', returnTo)
  if (acr) query.set('acr', acr)
  return query.size === 0 ? CONFIRM_PATH : `${CONFIRM_PATH}?${query.toString()}`
}

/** Its address where an error asks for it (`requiresReauthentication`). */
export const confirmPathFor = ({ reason }: AppError, returnTo?: string): string =>
  confirmPath({ returnTo, acr: reason === MFA_MISSING ? 'mfa' : undefined })

/** Where the user goes afterwards. */
export const targetOf = ({ returnTo }: StepUp): string => returnTo ?? `${ACCOUNT_PATH}?done=confirmed`

/** What the address or the form of the page asks for; `invalid_request` for what is not accepted. */
export const readStepUp = ({ form, query }: RequestContext, targets: ReturnTargets): StepUp => {
  const returnTo = form.get('return_to') ?? query.get('return_to')
  const acr = form.get('acr') ?? query.get('acr')
  if (acr !== undefined && acr !== 'mfa')
    throw new AppError('invalid_request', 'The field "acr" is mfa, or left out.', { field: 'acr' })
  return { returnTo: returnTo === undefined ? undefined : readReturnTo(returnTo, targets), acr }
}

/** Pages of svc that a refused form of theirs leads back to. */
const OWN_PAGES: ReadonlySet<string> = new Set(['/auth/account/second-factor', '/auth/account/first-factor'])

/**
 * The page that the request was for, to come back to; undefined for the forms of the account page, and for an address
 * that is not accepted.
 */
export const pageOf = ({ method, target }: RequestContext, targets: ReturnTargets): string | undefined => {
  const path = target.replace(/\?.*/s, '')
  const isPage = method === 'GET' || method === 'HEAD' ? path !== ACCOUNT_PATH : OWN_PAGES.has(path)
  return isPage ? findReturnTo({ get: () => target }, targets) : undefined
}

/** Where a user goes who must log in before they authenticate again for something. */
export const stepUpAfterLogin =
  (targets: ReturnTargets) =>
  (context: RequestContext): string => {
    const stepUp = readStepUp(context, targets)
    const isForAccount = stepUp.returnTo === undefined && stepUp.acr === undefined
    return isForAccount ? ACCOUNT_PATH : confirmPath(stepUp)
  }
