import { createLinkAccountPage } from './link-account-page.ts'
import { emailProblem, signInProblem } from '../../oauth/errors.ts'
import type { ExistingAccount, LinkRequest } from '../../oauth/oauth.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import type { Refusal, ShowAgain } from '../../http/route.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'
import { orProblemPage } from '../sign-in/provider-flow.ts'
import type { ProviderServices } from './provider-services.ts'

/** This describes a "link account" page, or what a form of it brings back. */
export interface LinkForm {
  request: LinkRequest
  account: ExistingAccount
  browserSecret: string
}

export interface ProofPage {
  /** Leads the browser to the page; `conflict` when nothing can prove the account. */
  askForProof(context: RequestContext, form: LinkForm): HttpResponse
  /** Shows the page. Its address brings the sealed link request, so that it can be loaded again. */
  show(context: RequestContext): Promise<HttpResponse>
  /** Throws `invalid_request` when the form brings no good link request. */
  showAgain: ShowAgain
  /** Opens the link request of the form, and handles the form. */
  handleForm(context: RequestContext, handle: (form: LinkForm) => Promise<HttpResponse>): Promise<HttpResponse>
}

/**
 * Makes the "link account" page. A user comes from this provider for the first time, and an account has the same email.
 * The user must prove that they own the account before the two are connected. If the email alone were enough, an
 * attacker who had registered the address first would share the account with its owner.
 */
export const createProofPage = (deps: ProviderServices): ProofPage => {
  const { provider, oauth, layout, providers, cookieWriter } = deps
  const linkAccountPage = createLinkAccountPage(layout)

  const provingProviders = (account: ExistingAccount) =>
    providers.filter(({ name }) => account.providers.includes(name))

  const requireProof = (account: ExistingAccount): void => {
    const canProve = account.hasPassword || provingProviders(account).length > 0 || account.isEmailUnverified
    if (!canProve) throw emailProblem('no_proof', account.email)
  }

  /** Throws `invalid_request` for text that is no link request of this browser. */
  const open = (context: RequestContext, pending: string | undefined): Omit<LinkForm, 'account'> => {
    const { oauth: browserSecret = '' } = context.cookies
    const { request, problem } = oauth.readLinkRequest(pending, browserSecret, provider.name)
    if (!request) throw signInProblem(problem)
    return { request, browserSecret }
  }

  const openForm = async (context: RequestContext): Promise<LinkForm> => {
    const opened = open(context, context.form.get('pending'))
    return { ...opened, account: await oauth.requireAccount(opened.request.pendingLink.userId) }
  }

  /** Opens the link request of the address. It can be opened until it is used. */
  const openAddress = async (context: RequestContext, pending: string): Promise<LinkForm> => {
    const opened = open(context, pending)
    const { pendingLink } = opened.request
    if (!(await oauth.isPending(pendingLink, opened.browserSecret))) throw signInProblem('used')
    const account = await oauth.requireAccount(pendingLink.userId)
    // The provider has proved the email that the account had: a new one is for its user alone.
    if (pendingLink.profile.email?.lower !== account.email.toLowerCase()) throw signInProblem('unreadable')
    requireProof(account)
    return { ...opened, account }
  }

  const render = (context: RequestContext, form: LinkForm, refusal: Partial<Refusal> = {}): string => {
    const { request, account, browserSecret } = form
    // The cookie is set again, so that it lasts as long as the page can be used.
    context.setCookies([cookieWriter.oauth(browserSecret)])
    stayAtLogin(deps, context)
    return linkAccountPage({
      csrfToken: context.csrfToken,
      returnTo: returnToParameter(request.returnTo, deps),
      provider,
      email: account.email,
      pending: oauth.sealLinkRequest(request, browserSecret),
      hasPassword: account.hasPassword,
      providers: provingProviders(account),
      canReclaim: account.isEmailUnverified,
      errors: {},
      ...refusal,
    })
  }

  /** Runs `action`; a problem page offers to try again with what the link request says. */
  const orProblem = (
    context: RequestContext,
    pending: string | undefined,
    action: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const { request } = oauth.readLinkRequest(pending, context.cookies.oauth, provider.name)
    return orProblemPage(deps, context, { provider, returnTo: request?.returnTo ?? deps.homeUrl }, action)
  }

  return {
    askForProof(context, { request, account, browserSecret }) {
      requireProof(account)
      context.setCookies([cookieWriter.oauth(browserSecret)])
      return redirect(`/auth/oauth/${provider.name}/link?pending=${oauth.sealLinkRequest(request, browserSecret)}`)
    },

    async show(context) {
      const pending = context.query.get('pending')
      if (pending === undefined) return redirect('/auth/login')
      return orProblem(context, pending, async () => page(409, render(context, await openAddress(context, pending))))
    },

    showAgain: async (context, refusal) => render(context, await openForm(context), refusal),

    handleForm: (context, handle) =>
      orProblem(context, context.form.get('pending'), async () => handle(await openForm(context))),
  }
}
