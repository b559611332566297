import { createNewEmailPage, createNewEmailTakenPage, createNewEmailConfirmedPage } from './email-pages.ts'
import type { ScreenServices } from '../site/frame.ts'
import { AppError } from '../../lib/errors.ts'
import type { Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { page } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { limitLogin } from '../../http/login-limits.ts'
import { isAskingBrowser } from '../sign-in/asking-browser.ts'
import { findSessionsBeside, type LinkHandlers, type NamedLink } from '../sign-in/link-token.ts'

/**
 * Handles the links of `/auth/email/verify` that confirm a new address. A press confirms in the browser that asked for
 * the link, or that has a session of the account. It must not confirm elsewhere. The address may be mistyped, and a
 * stranger who reads its mail would then have the account. Or the account may be an attacker's, who wants the address
 * of another person confirmed. There the page asks for the password of the account, or for a login if the account has
 * no password.
 */
export const createConfirmNewEmail = (
  deps: Pick<ScreenServices, 'accountLog' | 'limits' | 'layout' | 'passwords' | 'links' | 'sessions' | 'users'>,
): LinkHandlers => {
  const { links, layout, accountLog, users } = deps
  const newEmailPage = createNewEmailPage(layout)
  const newEmailTakenPage = createNewEmailTakenPage(layout)
  const newEmailConfirmedPage = createNewEmailConfirmedPage(layout)

  /** Finds what a press lacks in this browser. */
  const findMissing = async (context: RequestContext, link: Link): Promise<'password' | 'login' | undefined> => {
    if (isAskingBrowser(context, link) || (await findSessionsBeside(deps, context, link)).isOwn) return undefined
    return deps.passwords && (await users.hasPassword(link.userId ?? '')) ? 'password' : 'login'
  }

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal?: Refusal): Promise<string> =>
    newEmailPage({
      csrfToken: context.csrfToken,
      token,
      ...(await links.emailChanges.describe(link)),
      missing: await findMissing(context, link),
      errors: {},
      ...refusal,
    })

  const checkPassword = async (context: RequestContext, { userId }: Link, email: string): Promise<void> => {
    const password = context.form.get('password')
    if (!password) throw passwordProblem('unprocessable', 'Enter the password of the account.', 'password_missing')
    const event: EventFacts = { event: 'reauthentication', method: 'password', userId }
    await accountLog.recordOutcome(context, event, () =>
      limitLogin(deps, context, { entered: email }, async () => {
        const result = await users.authenticate(email, password, context)
        if ('refusal' in result || result.userId !== userId)
          throw passwordProblem('unauthorized', 'This is not the password of the account.', 'password_wrong')
      }),
    )
  }

  return {
    showAgain: render,
    show: async (context, named) => page(200, await render(context, named)),

    /** This signs nobody in: a password alone is not enough for every account. */
    async act(context, named, attempt) {
      const { link } = named
      const addresses = await links.emailChanges.describe(link)
      const missing = await findMissing(context, link)
      if (missing === 'login') return page(403, await render(context, named))
      const about = {
        event: 'email_change',
        userId: link.userId,
        check: async () => missing && checkPassword(context, link, addresses.email),
        instead: ({ reason }: AppError) =>
          reason === 'email_taken' ? page(409, newEmailTakenPage(addresses)) : undefined,
      } as const
      return attempt(about, async () => {
        await links.emailChanges.confirm(link, context)
        return page(200, newEmailConfirmedPage(addresses.newEmail))
      })
    },
  }
}

const passwordProblem = (code: 'unprocessable' | 'unauthorized', message: string, reason: string): AppError =>
  new AppError(code, message, { field: 'password', reason })
