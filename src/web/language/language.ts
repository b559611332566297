import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { findReferringPage, readReturnTo } from '../../http/return-to.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'

/** Handles `POST /auth/language` (CONTRACT.md 4.20): the browser keeps the language, and so does a signed-in user. */
export const createChooseLanguage = ({
  baseUrl,
  cookieWriter,
  languages,
}: Pick<Services, 'baseUrl' | 'cookieWriter' | 'languages'>) => ({
  async act(context: RequestContext): Promise<HttpResponse> {
    const returnTo = readReturnTo(context, { baseUrl }, findReferringPage(context, { baseUrl }) ?? '/auth/login')
    const tag = languages.find(context.form.get('language'))
    if (tag === undefined)
      throw new AppError(
        'invalid_request',
        `The language (language) must be one of these: ${languages.offered.join(', ')}.`,
        {
          field: 'language',
        },
      )
    context.setCookies([cookieWriter.language(tag)])
    return redirect(returnTo)
  },
})
