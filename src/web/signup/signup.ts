import type { Awaitable } from '../../lib/awaitable.ts'
import type { SignupView } from '../../pages/signup/signup-page.ts'
import { emailTaken } from '../../accounts/taken.ts'
import type { AlsoInsert } from '../../accounts/accounts.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countOutcome, signupFailure } from '../../http/request-metrics.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { signupWays } from '../sign-in/signup-ways.ts'
import { carriedEmail } from '../site/carried-email.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { askingBrowserOf } from '../sign-in/check-mail.ts'
import type { EntryDeps } from '../sign-in/redirect-signed-in.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'

interface Typed {
  email: string
  /** Undefined where usernames are made: what a form says of one does not count. */
  username: string | undefined
}

interface SignupForm extends Typed {
  password: string
  returnTo: string
}

/** `GET` and `POST /auth/signup` (CONTRACT.md 4.2). */
export const createSignup = (deps: EntryDeps) => {
  const { redirectSignedIn, users, pages, limits, requestMetrics, usernames, providers, accountLog, emailDomains } =
    deps
  const { verification, pendingSignups } = deps.recovery
  const ways = signupWays(deps)

  const view = (context: RequestContext, returnTo: string, typed: Typed): SignupView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(returnTo, deps),
    ...typed,
    errors: {},
    providers,
    acceptedDomains: emailDomains.accepted,
    byPassword: ways.byPassword,
    closed: !ways.isOpen,
  })

  const showEmpty = (context: RequestContext, returnTo: string, status: number): HttpResponse =>
    page(
      status,
      pages.signup(view(context, returnTo, { email: carriedEmail(context), username: usernames ? '' : undefined })),
    )

  const limited = <T>({ network }: RequestContext, action: () => Promise<T>): Promise<T> =>
    limits.attempt([['signupOfAddress', { network }]], action)

  /** Whether the email is taken is looked up later: nothing here may depend on it, not even the log line. */
  const askToConfirm = async (context: RequestContext, { returnTo, ...typed }: SignupForm): Promise<HttpResponse> => {
    const browser = askingBrowserOf(deps, context, returnTo)
    await limited(context, async () => pendingSignups.ask(await users.checkSignup(typed, context), browser))
    const view = { email: typed.email.trim(), after: 'signup' as const, returnTo: returnToParameter(returnTo, deps) }
    return page(200, pages.checkMail(view))
  }

  const createAccount = async (context: RequestContext, form: SignupForm, facts: EventFacts): Promise<HttpResponse> => {
    const { returnTo, ...typed } = form
    const browser = verification.mode === 'off' ? undefined : askingBrowserOf(deps, context, returnTo)
    const sendMessage: AlsoInsert = async (transaction, userId) =>
      browser && verification.send(transaction, userId, browser)
    const grant = await limited(context, () => users.signUp(typed, context, sendMessage))
    const signIn = { way: 'password', grant, returnTo, facts, browser: 'not_yet' } as const
    const response = await completeSignIn(deps, context, signIn)
    // An operator has invited the owner of the address at this moment, and the account is theirs.
    if (!response) throw emailTaken()
    return response
  }

  const signUp = (context: RequestContext, form: SignupForm): Promise<HttpResponse> => {
    const about = { method: 'password', email: form.email }
    if (verification.mode === 'required')
      return accountLog.recordOutcome(context, { event: 'signup_request', ...about }, () => askToConfirm(context, form))
    const event: EventFacts = { event: 'signup', ...about }
    return accountLog.recordOutcome(context, event, (facts) => createAccount(context, form, facts))
  }

  const signUpAndCount = (context: RequestContext, form: SignupForm): Promise<HttpResponse> =>
    countOutcome(() => signUp(context, form), signupFailure, requestMetrics?.countSignup)

  const readTyped = ({ form }: RequestContext): Typed => ({
    email: form.get('email') ?? '',
    username: usernames ? (form.get('username') ?? '') : undefined,
  })

  const showAgain = (context: RequestContext, refusal: Refusal): string =>
    pages.signup({ ...view(context, requestedReturnTo(context, deps), readTyped(context)), ...refusal })

  return {
    showAgain,

    show: (context: RequestContext): Awaitable<HttpResponse> =>
      redirectSignedIn(context, (returnTo) => showEmpty(context, returnTo, ways.isOpen ? 200 : 403)),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const typed = readTyped(context)
      const password = context.form.get('password') ?? ''
      if (!ways.byPassword) {
        requestMetrics?.countSignup('closed')
        return showEmpty(context, returnTo, 403)
      }
      return orShowAgain(
        context,
        () => signUpAndCount(context, { ...typed, password, returnTo }),
        (refusal) => showAgain(context, refusal),
      )
    },
  }
}
