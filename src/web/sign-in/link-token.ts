import { AppError } from '../../lib/errors.ts'
import type { Link, LinkPurpose } from '../../links/link.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import { speakToUser } from '../../http/page-language.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { findBrowserSessions } from './start-session.ts'

/**
 * Reads the token of a link from the field of a form, else from the address. It throws `invalid_request` when the token
 * is missing or repeated.
 */
const requireToken = ({ form, query }: RequestContext): string => {
  const token = form.get('token') ?? query.get('token')
  if (token) return token
  throw new AppError('invalid_request', 'The field "token" is missing: open the whole address of the link.', {
    field: 'token',
  })
}

/** This is a live link, and the token that leads to it. */
export interface NamedLink {
  link: Link
  token: string
}

type LinkServices = Pick<Services, 'languages' | 'links' | 'users'>

/**
 * Finds the link of a request, and goes on in the language of its user, as the message with it did. It does not use the
 * link up: `GET` and `HEAD` change nothing, since mail scanners follow links. A link that is not good is a
 * `DeadLinkError`, for which the responder shows the page.
 */
export const requireLink = async (
  { languages, links, users }: LinkServices,
  context: RequestContext,
  ...purposes: [LinkPurpose, ...LinkPurpose[]]
): Promise<NamedLink> => {
  const token = requireToken(context)
  const link = await links.issued.require(purposes, token)
  if (link.userId !== undefined) speakToUser(languages, (await users.find(link.userId))?.language, true)
  return { token, link }
}

/**
 * Finds the sessions of the browser in which a link was opened. It tells whether one is of the link's account, and
 * gives the sessions of other accounts.
 */
export const findSessionsBeside = async (
  deps: Pick<Services, 'sessions'>,
  context: RequestContext,
  { userId }: Pick<Link, 'userId'>,
): Promise<{ isOwn: boolean; others: AuthenticatedSession[] }> => {
  const sessions = await findBrowserSessions(deps, context)
  return {
    isOwn: sessions.some((session) => session.userId === userId),
    others: sessions.filter((session) => session.userId !== userId),
  }
}

/** These handlers show a live link of one of several purposes, and handle its form. */
export interface LinkHandlers {
  show(context: RequestContext, named: NamedLink): Promise<HttpResponse>
  act(context: RequestContext, named: NamedLink, attempt: FormAttempt): Promise<HttpResponse>
  showAgain(context: RequestContext, named: NamedLink, refusal: Refusal): Promise<string>
}

interface LinkForm {
  render(context: RequestContext, named: NamedLink, refusal: Refusal): Promise<string>
  act(context: RequestContext, named: NamedLink, facts: EventFacts): Promise<HttpResponse>
  /** These are facts of the attempt, besides the user of the link. */
  about?: Partial<EventFacts>
  /** Answers in place of the page and the form. */
  instead?(named: NamedLink, context: RequestContext): Promise<HttpResponse | undefined>
}

/** Makes the page that a live link opens, and its form. */
export const createLinkForm = (
  deps: LinkServices,
  purposes: readonly [LinkPurpose, ...LinkPurpose[]],
  { render, act, about, instead }: LinkForm,
) => {
  const find = (context: RequestContext) => requireLink(deps, context, ...purposes)
  return {
    async show(context: RequestContext): Promise<HttpResponse> {
      const named = await find(context)
      return (await instead?.(named, context)) ?? page(200, await render(context, named, UNREFUSED))
    },

    showAgain: async (context: RequestContext, refusal: Refusal): Promise<string> =>
      render(context, await find(context), refusal),

    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      const named = await find(context)
      const answer = await instead?.(named, context)
      if (answer) return answer
      return attempt({ ...about, userId: named.link.userId }, (facts) => act(context, named, facts))
    },
  }
}

const UNREFUSED: Refusal = { errors: {}, problem: undefined }
