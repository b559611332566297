import { createRecoveryCodesPage, createRecoveryCodesFile } from '../sign-in/recovery-codes-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { AppError } from '../../lib/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { readReturnTo, withReturnTo } from '../../http/return-to.ts'
import { ACCOUNT_PATH } from '../../http/step-up.ts'
import { accountPathOf, doneOnAccount, isDone } from '../site/done.ts'

/** New recovery codes come with one of these events. */
const OCCASIONS = ['second_factor_set_up', 'passkey_added', 'recovery_codes_renewed'] as const

interface NewCodes {
  userId: string
  codes: string[]
  returnTo?: string | undefined
  done: (typeof OCCASIONS)[number]
}

const SECOND_FACTOR_PATH = '/auth/account/second-factor'

/** Sets the cookie with new recovery codes; it resolves to the path of the page that shows them once. */
export const showRecoveryCodes = async (
  deps: Pick<Services, 'secondFactors' | 'cookieWriter'>,
  context: RequestContext,
  { userId, codes, returnTo, done }: NewCodes,
): Promise<string> => {
  context.setCookies([deps.cookieWriter.codes(await deps.secondFactors.sealCodes(userId, codes))])
  doneOnAccount(deps, context, userId, done)
  return withReturnTo(SECOND_FACTOR_PATH, returnTo)
}

/** Shows new recovery codes, once, and makes a file of them. */
export const createRecoveryCodesView = ({
  secondFactors,
  cookieWriter,
  layout,
  ...targets
}: Pick<ScreenServices, 'baseUrl' | 'cookieWriter' | 'homeUrl' | 'layout' | 'secondFactors'>) => ({
  /** Shows the codes that a cookie brings, which is good for one page. A `HEAD` shows none, and leaves it. */
  async show(context: RequestContext, { userId, email }: AuthenticatedSession): Promise<HttpResponse | undefined> {
    const sealed = context.cookies.single.codes
    const codes = await secondFactors.openCodes(userId, sealed)
    if (!codes || sealed === undefined) return undefined
    if (context.method !== 'HEAD') context.setCookies([cookieWriter.codes(undefined)])
    const done = OCCASIONS.find((what) => isDone(context, what, userId))
    const returnTo = readReturnTo(context, targets, done ? accountPathOf(done) : ACCOUNT_PATH)
    const view = { csrfToken: context.csrfToken, email, codes, sealed, returnTo, done }
    return { ...page(200, createRecoveryCodesPage(layout)(view)), isShownOnce: true }
  },

  /** Makes a file of the codes that the page has just shown. The file holds only what svc has sealed for this user. */
  async download(sealed: string, { userId, email }: AuthenticatedSession): Promise<HttpResponse> {
    const codes = await secondFactors.openCodes(userId, sealed)
    if (!codes)
      throw new AppError(
        'gone',
        'These codes were shown more than ten minutes ago. Make new ones to get a file of them.',
        { reason: 'codes_expired' },
      )
    return {
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      body: createRecoveryCodesFile(layout)({ email, codes }),
      headers: ['content-disposition', 'attachment; filename="recovery-codes.txt"'],
    }
  },
})
