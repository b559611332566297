import {
  type AskForCodeView,
  createAskForCodePage,
  createPasskeyNeededPage,
  createTypeCodePage,
  type TypeCodeView,
} from './pages.ts'
import { AppError } from '../../lib/errors.ts'
import { readEmail } from '../../lib/email-address.ts'
import { DeadLinkError, hashToken } from '../../links/link.ts'
import type { AskedCode, CheckedMailCode, TypedCode } from '../../links/mail-codes.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { returnToParameter, withReturnTo } from '../../http/return-to.ts'
import { confirmPath, readStepUp, targetOf } from '../../http/step-up.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { readTypedCode } from '../../lib/typed-code.ts'
import { nameView } from '../site/person-name.ts'
import type { RedirectSignedIn } from '../sign-in/redirect-signed-in.ts'
import { requestedReturnTo, startSession } from '../sign-in/start-session.ts'
import { isConfirmation, requireSessionToConfirm } from './confirmation.ts'
import { createEnterByMail, type EnterByMailServices } from './enter-by-mail.ts'

/** The error of a wrong code, and of one that was used up in the meantime, is the same. */
const isWrong = (error: unknown): boolean => error instanceof AppError && error.reason === 'mail_code_wrong'

/** Handles `GET` and `POST /auth/login/email/code`: a user types the code in the browser that has asked for it. */
export const createTypeCode = (
  deps: EnterByMailServices &
    Pick<Services, 'baseUrl' | 'findCurrentSession' | 'signup'> & { redirectSignedIn: RedirectSignedIn },
) => {
  const { links, layout, names, requestMetrics, redirectSignedIn } = deps
  const typeCodePage = createTypeCodePage(layout)
  const askForCodePage = createAskForCodePage(layout)
  const passkeyNeededPage = createPasskeyNeededPage(layout)
  const enter = createEnterByMail(deps)

  /** Finds what this browser has asked for: the page says to which address, or it was the last one. */
  const findAsked = (context: RequestContext): Promise<AskedCode | undefined> =>
    links.codes.findAsked({
      browser: browserOf(context),
      purpose: isConfirmation(context) ? 'confirm' : 'sign_in',
      email: readEmail(context.form.get('email') ?? ''),
    })

  const view = (context: RequestContext, email: string, returnTo: string | undefined): TypeCodeView => ({
    csrfToken: context.csrfToken,
    email,
    returnTo,
    signupOpen: deps.signup === 'on',
    isNew: false,
    errors: {},
  })

  const askAgain = (context: RequestContext, refusal: Refusal): AskForCodeView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(requestedReturnTo(context, deps), deps),
    email: context.form.get('email') ?? '',
    ...refusal,
  })

  const check = async (context: RequestContext, typed: Omit<TypedCode, 'browser'>): Promise<CheckedMailCode> => {
    try {
      return await links.codes.check({ ...typed, browser: browserOf(context) })
    } catch (error) {
      if (isWrong(error)) requestMetrics?.countEmailSignIn('wrong_code')
      if (error instanceof AppError && error.code === 'rate_limited') requestMetrics?.countEmailSignIn('limited')
      throw error
    }
  }

  const signIn = async (context: RequestContext, code: string, facts: EventFacts): Promise<HttpResponse> => {
    const asked = await findAsked(context)
    facts.email = asked?.emailLower
    const checked = await check(context, { code, purpose: 'sign_in', email: readEmail(asked?.email ?? '') })
    const { link } = checked
    facts.userId = link.userId
    return useCode(checked, () => enter(context, { link, way: 'mail_code', facts }))
  }

  const confirm = async (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> => {
    const session = await requireSessionToConfirm(deps, context)
    const { userId, sessionId } = session
    const stepUp = readStepUp(context, deps)
    const about = { event: 'reauthentication', method: 'email_code', userId, sessionId, outcome: () => {} } as const
    return attempt({ ...about, check: () => readTypedCode(context.form.get('code') ?? '') }, async (facts, code) => {
      const checked = await check(context, { code, purpose: 'confirm', email: readEmail(session.email) })
      const { link } = checked
      return useCode(checked, async () => {
        if (link.details.session !== sessionId) throw new DeadLinkError('confirm', 'ended')
        const { grant, apply: also } = await links.signIn.confirm(link, context)
        const returnTo = stepUp.acr === 'mfa' ? confirmPath(stepUp) : targetOf(stepUp)
        return startSession(deps, context, { grant, returnTo, facts, also })
      })
    })
  }

  /** The code is right, and the account has a passkey by now that this browser does not know. */
  const passkeyNeeded = async (context: RequestContext, { reason }: AppError): Promise<HttpResponse | undefined> => {
    if (reason !== 'passkey_needed') return undefined
    requestMetrics?.countEmailSignIn('passkey_needed')
    return page(403, passkeyNeededPage({ email: (await findAsked(context))?.email ?? '' }))
  }

  return {
    show: (context: RequestContext) =>
      redirectSignedIn(context, async (returnTo) => {
        const asked = await findAsked(context)
        if (!asked) return redirect(withReturnTo('/auth/login/email', returnToParameter(returnTo, deps)))
        return page(200, typeCodePage(view(context, asked.email, returnToParameter(asked.returnTo ?? returnTo, deps))))
      }),

    async showAgain(context: RequestContext, refusal: Refusal): Promise<string> {
      const asked = await findAsked(context)
      const stepUp = isConfirmation(context) ? readStepUp(context, deps) : undefined
      // This browser has asked for nothing, or too long ago.
      if (!asked) return askForCodePage(askAgain(context, refusal))
      const returnTo = stepUp ? stepUp.returnTo : returnToParameter(asked.returnTo ?? deps.homeUrl, deps)
      const asksForName = refusal.errors.name !== undefined || context.form.get('name') !== undefined
      return typeCodePage({
        ...view(context, asked.email, returnTo),
        ...(stepUp && { confirms: { acr: stepUp.acr } }),
        ...(asksForName && { name: nameView(names, context.form.get('name')), code: context.form.get('code') }),
        ...refusal,
      })
    },

    act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      if (isConfirmation(context)) return confirm(context, attempt)
      const instead = (error: AppError) => passkeyNeeded(context, error)
      const about = { method: 'email_code', instead, check: () => readTypedCode(context.form.get('code') ?? '') }
      return attempt(about, (facts, code) => signIn(context, code, facts))
    },
  }
}

const browserOf = ({ cookies: { link } }: RequestContext): string | undefined =>
  link === undefined ? undefined : hashToken(link)

/** Runs what a right code permits. Where the code stays good, its try does not count. */
const useCode = async (
  checked: CheckedMailCode,
  use: () => Promise<HttpResponse | undefined>,
): Promise<HttpResponse> => {
  try {
    const response = await use()
    if (response) return response
  } catch (error) {
    if (!(error instanceof DeadLinkError)) {
      await checked.takeBack()
      throw error
    }
  }
  throw new AppError('unauthorized', 'This code was used, or no longer works.', {
    field: 'code',
    reason: 'mail_code_wrong',
  })
}
