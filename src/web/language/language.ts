import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { findReferringPage, readReturnTo } from '../../http/return-to.ts'
import type { FormAttempt } from '../../http/route.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'

/** Handles `POST /auth/language` (CONTRACT.md 4.20): the browser keeps the language, and so does a signed-in user. */
export const createChooseLanguage = ({
  baseUrl,
  cookieWriter,
  findCurrentSession,
  languages,
  users,
}: Pick<Services, 'baseUrl' | 'cookieWriter' | 'findCurrentSession' | 'languages' | 'users'>) => {
  const requireOffered = ({ form }: RequestContext): string => {
    const tag = languages.find(form.get('language'))
    if (tag !== undefined) return tag
    const message = `The language (language) must be one of these: ${languages.offered.join(', ')}.`
    throw new AppError('invalid_request', message, { field: 'language' })
  }

  return {
    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      const returnTo = readReturnTo(context, { baseUrl }, findReferringPage(context, { baseUrl }) ?? '/auth/login')
      const tag = requireOffered(context)
      const session = await findCurrentSession(context)
      const choose = (): HttpResponse => {
        context.setCookies([cookieWriter.language(tag)])
        return redirect(returnTo)
      }
      if (!session || session.language === tag) return choose()
      const { userId, sessionId } = session
      return attempt({ userId, sessionId }, async () => {
        await users.changeLanguage(userId, tag, sessionId, context)
        return choose()
      })
    },
  }
}
