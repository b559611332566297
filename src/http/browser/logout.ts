import type { RouteParts } from '../deps.ts'
import { type Answer, page, redirect, type Visit } from '../request-context.ts'
import { sessionsOf } from './start-session.ts'

/** `GET` (a button) and `POST /auth/logout` (specification section 4.2 rule 4). */
export const createLogout = (parts: RouteParts) => ({
  async show(visit: Visit): Promise<Answer> {
    const signedIn = await parts.recognize(visit)
    const view = { csrfToken: visit.csrfToken, signedIn: signedIn !== undefined, email: signedIn?.email }
    return page(200, parts.pages.logout(view))
  },

  async submit(visit: Visit): Promise<Answer> {
    const ended = await sessionsOf(parts, visit)
    for (const { sessionId } of ended) await parts.sessions.end(sessionId)
    // The user wants out, though a login in another tab may have been a moment faster.
    if (visit.cookies.refresh) ended.push(...(await parts.sessions.endSuccessor(visit.cookies.refresh)))
    for (const { userId, sessionId } of ended) parts.accountLog.note(visit, { event: 'logout', userId, sessionId })
    visit.leaveSession()
    return redirect('/')
  },
})
