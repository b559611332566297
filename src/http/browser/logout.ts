import { newCsrfToken } from '../cookies.ts'
import type { RouteParts } from '../parts.ts'
import { type Answer, page, redirect, type Visit } from '../visit.ts'
import { endFormerSession } from './entry.ts'

/** `GET` (a button) and `POST /auth/logout` (specification section 4.2 rule 4). */
export const createLogout = (parts: RouteParts) => ({
  async show(visit: Visit): Promise<Answer> {
    const signedIn = await parts.recognize(visit)
    const view = { csrfToken: visit.csrfToken, signedIn: signedIn !== undefined, email: signedIn?.email }
    return page(200, parts.pages.logout(view))
  },

  /** Ends the session of either cookie: the access token may have run out. */
  async submit(visit: Visit): Promise<Answer> {
    await endFormerSession(parts, visit)
    const { clearedSession, csrf } = parts.cookieWriter
    visit.setCookies([...clearedSession(), csrf(newCsrfToken())])
    return redirect('/')
  },
})
