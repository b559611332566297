import type { RefreshResult, Sessions, SignedIn } from '../sessions/sessions.ts'
import { setRefreshCookies } from './refresh-cookies.ts'
import type { Visit } from './request-context.ts'

interface Parts {
  sessions: Sessions
  noteRefresh: (visit: Visit, result: RefreshResult) => void
}

/**
 * Finds out who visits a page. Who comes with an access token that has run out but a good refresh token is renewed on
 * the way, so that an application needs nothing but a redirect to the login page.
 */
export const createRecognition = ({ sessions, noteRefresh }: Parts) => {
  const find = async (visit: Visit): Promise<SignedIn | undefined> => {
    const { access, refresh } = visit.cookies
    visit.signedIn = access ? await sessions.authenticate(access) : undefined
    // A HEAD only looks (RFC 9110 section 9.3.2), and what sends it may drop the cookies of the answer.
    if (visit.signedIn || !refresh || visit.method === 'HEAD') return visit.signedIn
    const result = await sessions.refresh(refresh, visit.device)
    noteRefresh(visit, result)
    setRefreshCookies(visit, result)
    visit.signedIn = 'tokens' in result ? result.signedIn : undefined
    visit.isRenewed = visit.signedIn !== undefined
    return visit.signedIn
  }

  const found = new WeakMap<Visit, Promise<SignedIn | undefined>>()

  // Once for each visit: asked again past the grace, the token that this very visit has traded in would look stolen.
  return (visit: Visit): Promise<SignedIn | undefined> => {
    const finding = found.get(visit) ?? find(visit)
    found.set(visit, finding)
    return finding
  }
}

export type Recognition = ReturnType<typeof createRecognition>
