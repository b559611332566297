import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { FormModule } from '../../http/route.ts'
import { createConfirmNewEmail } from './confirm-new-email.ts'
import { createConfirmSignup } from './confirm-signup.ts'
import { type LinkHandlers, requireLink } from '../sign-in/link-token.ts'
import { createVerifyAccount } from './verify-account.ts'
import type { SignInServices } from '../sign-in/complete-sign-in.ts'

interface VerifyEmail extends FormModule {
  show(context: RequestContext): Promise<HttpResponse>
}

/**
 * Handles `GET` and `POST /auth/email/verify` (CONTRACT.md 4.2): every link that proves an email leads here. The
 * purpose of the link decides what follows.
 */
export const createVerifyEmail = (
  deps: SignInServices & Pick<Services, 'accountLog' | 'passwords' | 'names' | 'usernames' | 'users'>,
): VerifyEmail => {
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

    async act(context, attempt) {
      const { named, handler } = await requireNamed(context)
      return handler.act(context, named, attempt)
    },
  }
}
