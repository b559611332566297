import { AppError } from '../../lib/errors.ts'
import type { Link, LinkPurpose } from '../../links/link.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Refusal } from '../../http/form-problems.ts'
import { findBrowserSessions } from './start-session.ts'

/** The token of a link: the field of a form, else that of the address. `invalid_request` when it is missing or repeated. */
const requireToken = ({ form, query }: RequestContext): string => {
  const token = form.get('token') ?? query.get('token')
  if (token) return token
  throw new AppError('invalid_request', 'The field "token" is missing: open the whole address of the link.', {
    field: 'token',
  })
}

/** A live link, and the token that leads to it. */
export interface NamedLink {
  link: Link
  token: string
}

/** What a live link of one purpose shows, and what its form does. */
export interface LinkHandlers {
  show(context: RequestContext, named: NamedLink): Promise<HttpResponse>
  submit(context: RequestContext, named: NamedLink): Promise<HttpResponse>
  showAgain(context: RequestContext, named: NamedLink, refusal: Refusal): Promise<string>
}

/**
 * The link of a request, without using it up: `GET` and `HEAD` change nothing, since mail scanners follow links. A link
 * that is not good is a `DeadLinkError`, for which the responder shows the page.
 */
export const requireLink = async (
  { recovery }: Pick<RouteDeps, 'recovery'>,
  context: RequestContext,
  ...purposes: [LinkPurpose, ...LinkPurpose[]]
): Promise<NamedLink> => {
  const token = requireToken(context)
  return { token, link: await recovery.links.require(purposes, token) }
}

/** The sessions of the browser in which a link was opened: whether one is of its account, and those of others. */
export const findSessionsBeside = async (
  deps: Pick<RouteDeps, 'sessions'>,
  context: RequestContext,
  { userId }: Pick<Link, 'userId'>,
): Promise<{ isOwn: boolean; others: AuthenticatedSession[] }> => {
  const sessions = await findBrowserSessions(deps, context)
  return {
    isOwn: sessions.some((session) => session.userId === userId),
    others: sessions.filter((session) => session.userId !== userId),
  }
}
