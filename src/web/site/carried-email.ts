import { readEmail } from '../../lib/email-address.ts'
import type { RequestContext } from '../../http/request-context.ts'

/**
 * Reads the email in the query, from a link that carries what was typed on the page before. It is empty if that is no
 * address, so that a link of another site puts no words of its own into our forms.
 */
export const carriedEmail = ({ query }: RequestContext): string => readEmail(query.get('email') ?? '')?.shown ?? ''
