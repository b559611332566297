import { createCheckMailPage } from '../sign-in/check-mail-page.ts'
import { createSignupPage, type SignupView } from './signup-page.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import { emailTaken } from '../../accounts/fields.ts'
import type { AskingBrowser } from '../../links/verification.ts'
import type { AlsoInsert } from '../../accounts/accounts.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { afterSignup, returnToParameter } from '../../http/return-to.ts'
import { signupWays } from '../sign-in/offered-ways.ts'
import { carriedEmail } from '../site/carried-email.ts'
import { nameView, typedName } from '../site/person-name.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { askingBrowserOf } from '../sign-in/asking-browser.ts'
import type { RedirectSignedIn } from '../sign-in/redirect-signed-in.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'

interface Typed {
  email: string
  /** This is undefined if usernames are made: a username in the form does not count then. */
  username: string | undefined
  /** Null is none. */
  name: string | null | undefined
}

interface SignupForm extends Typed {
  password: string
  returnTo: string
}

/** Handles `GET` and `POST /auth/signup` (CONTRACT.md 4.2). */
export const createSignup = (
  deps: SignInServices &
    Pick<
      Services,
      | 'baseUrl'
      | 'emailDomains'
      | 'emailSignIn'
      | 'passwords'
      | 'providers'
      | 'signup'
      | 'names'
      | 'usernames'
      | 'users'
    > & {
      redirectSignedIn: RedirectSignedIn
    },
) => {
  const { redirectSignedIn, users, layout, requestMetrics, names, usernames, emailSignIn, providers, emailDomains } =
    deps
  const signupPage = createSignupPage(layout)
  const checkMailPage = createCheckMailPage(layout)
  const { verification, pendingSignups } = deps.links
  const ways = signupWays(deps)

  const view = (context: RequestContext, returnTo: string, typed: Omit<Typed, 'name'>): SignupView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(returnTo, deps),
    email: typed.email,
    username: typed.username,
    name: nameView(names, context.form.get('name')),
    errors: {},
    providers,
    acceptedDomains: emailDomains.accepted,
    byPassword: ways.byPassword,
    byMail: ways.byMail,
    closed: !ways.isOpen,
  })

  const showEmpty = (context: RequestContext, returnTo: string, status: number): HttpResponse =>
    page(
      status,
      signupPage(view(context, returnTo, { email: carriedEmail(context), username: usernames ? '' : undefined })),
    )

  /** The email is looked up later: nothing here may depend on whether it is taken, and neither may the log line. */
  const askToConfirm = async (
    context: RequestContext,
    { returnTo, ...typed }: SignupForm,
    browser: AskingBrowser,
  ): Promise<HttpResponse> => {
    await pendingSignups.ask(await users.checkSignup(typed, context), browser)
    const view = { email: typed.email.trim(), after: 'signup' as const, returnTo: returnToParameter(returnTo, deps) }
    return page(200, checkMailPage(view))
  }

  const createAccount = async (
    context: RequestContext,
    { returnTo, ...typed }: SignupForm,
    { browser, facts }: { browser: AskingBrowser | undefined; facts: EventFacts },
  ): Promise<HttpResponse> => {
    const sendMessage: AlsoInsert = async (transaction, userId) =>
      browser && verification.send(transaction, userId, browser)
    const grant = await users.signUp(typed, context, sendMessage)
    const signIn = { way: 'password', grant, facts, browser: 'not_yet' } as const
    const response = await completeSignIn(deps, context, { ...signIn, returnTo: afterSignup(deps, returnTo) })
    // An operator has just invited the owner of the address, and the account belongs to that user.
    if (!response) throw emailTaken()
    return response
  }

  const readTyped = (context: RequestContext): Typed => ({
    email: context.form.get('email') ?? '',
    username: usernames ? (context.form.get('username') ?? '') : undefined,
    name: typedName(context, names),
  })

  return {
    showAgain: (context: RequestContext, refusal: Refusal): string =>
      signupPage({ ...view(context, requestedReturnTo(context, deps), readTyped(context)), ...refusal }),

    show: (context: RequestContext): Awaitable<HttpResponse> =>
      redirectSignedIn(context, (returnTo) => showEmpty(context, returnTo, ways.isOpen ? 200 : 403)),

    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const form = { ...readTyped(context), password: context.form.get('password') ?? '', returnTo }
      if (!ways.byPassword) {
        requestMetrics?.countSignup('closed')
        return showEmpty(context, returnTo, 403)
      }
      const about = { method: 'password', email: form.email }
      const askingBrowser = () => askingBrowserOf(deps, context, returnTo)
      if (verification.mode === 'required')
        return attempt({ ...about, event: 'signup_request', check: askingBrowser }, (_facts, browser) =>
          askToConfirm(context, form, browser),
        )
      // Mail recognises the browser of the signup: by a link that verifies the address, or a code that signs in.
      const check = () => (verification.mode === 'off' && !emailSignIn ? undefined : askingBrowser())
      return attempt({ ...about, check }, (facts, browser) => createAccount(context, form, { browser, facts }))
    },
  }
}
