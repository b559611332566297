import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { ShowAgain } from '../../http/route.ts'
import { createConfirmNewEmail } from './confirm-new-email.ts'
import { createConfirmSignup } from './confirm-signup.ts'
import { type LinkHandlers, requireLink } from '../sign-in/link-token.ts'
import { createVerifyAccount } from './verify-account.ts'

interface VerifyEmail {
  show(context: RequestContext): Promise<HttpResponse>
  submit(context: RequestContext): Promise<HttpResponse>
  showAgain: ShowAgain
}

/**
 * `GET` and `POST /auth/email/verify` (CONTRACT.md 4.2): every link that proves an email leads here. Its purpose decides
 * what follows.
 */
export const createVerifyEmail = (deps: PageDeps): VerifyEmail => {
  const handlers: Record<'verify' | 'signup' | 'new_email', LinkHandlers> = {
    verify: createVerifyAccount(deps),
    signup: createConfirmSignup(deps),
    new_email: createConfirmNewEmail(deps),
  }

  const requireNamed = async (context: RequestContext) => {
    const named = await requireLink(deps, context, 'verify', 'signup', 'new_email')
    return { named, handler: handlers[named.link.purpose as keyof typeof handlers] }
  }

  return {
    async show(context) {
      const { named, handler } = await requireNamed(context)
      return handler.show(context, named)
    },

    async showAgain(context, refusal) {
      const { named, handler } = await requireNamed(context)
      return handler.showAgain(context, named, refusal)
    },

    async submit(context) {
      const { named, handler } = await requireNamed(context)
      return handler.submit(context, named)
    },
  }
}
