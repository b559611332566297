import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { requireEmail } from './email.ts'

/** The rule about the domains of emails that users bring: at signup, from a provider, and at a change. */
export interface EmailDomains {
  /** The domains in lower case; none: any is accepted. A subdomain is a domain of its own. */
  accepted: readonly string[]
  accepts(email: Email): boolean
  /** `unprocessable` on field `email` when it is no address, or its domain is not accepted. */
  requireEmail(entered: string): Email
}

/** The reason of the refusal, whose values are the accepted domains. */
export const DOMAIN_REFUSED = 'email_domain_not_accepted'

export const createEmailDomains = (accepted: readonly string[]): EmailDomains => {
  const accepts = ({ lower }: Email): boolean =>
    accepted.length === 0 || accepted.includes(lower.slice(lower.indexOf('@') + 1))

  return {
    accepted,
    accepts,

    requireEmail(entered) {
      const email = requireEmail(entered)
      if (accepts(email)) return email
      throw new AppError(
        'unprocessable',
        `Only email addresses of these domains are accepted: ${accepted.join(', ')}.`,
        {
          field: 'email',
          reason: DOMAIN_REFUSED,
          values: accepted,
        },
      )
    },
  }
}
