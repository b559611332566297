import { newCsrfToken } from '../cookies.ts'
import type { RouteParts } from '../parts.ts'
import { readReturnTo } from '../return-to.ts'
import { type Answer, redirect, type Visit } from '../visit.ts'

/** Where a person wants to go after login or signup: from the form, else from the query; `/` when it is not said. */
export const targetOf = (visit: Visit, baseUrl: string): string =>
  readReturnTo(visit.form.get('return_to') ?? visit.query.get('return_to'), baseUrl)

/** Sends a visitor who is signed in on to his target, and shows anybody else the page. */
export const sendOnOr = async (
  { recognize, baseUrl }: Pick<RouteParts, 'recognize' | 'baseUrl'>,
  visit: Visit,
  show: (target: string) => Answer,
): Promise<Answer> => {
  const target = targetOf(visit, baseUrl)
  return (await recognize(visit)) ? redirect(target) : show(target)
}

/** Ends the session that this browser had, if it can show one, before it gets another. */
export const endFormerSession = async ({ sessions }: Pick<RouteParts, 'sessions'>, visit: Visit): Promise<void> => {
  const { access, refresh } = visit.cookies
  const former = [
    access && (await sessions.authenticate(access))?.sessionId,
    refresh && (await sessions.identify(refresh)),
  ]
  for (const id of new Set(former)) if (id) await sessions.end(id)
}

/** Starts a session and sends the browser to its target. The CSRF token changes with who somebody is. */
export const enter = async (
  parts: Pick<RouteParts, 'sessions' | 'cookieWriter'>,
  visit: Visit,
  start: () => ReturnType<RouteParts['sessions']['start']>,
  target: string,
): Promise<Answer | undefined> => {
  const tokens = await start()
  if (!tokens) return undefined
  await endFormerSession(parts, visit)
  visit.setCookies(parts.cookieWriter.session(tokens, newCsrfToken()))
  return redirect(target)
}
