import type { OfferedWays, Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { stayAtLogin } from './offered-ways.ts'
import { readPending } from './pending.ts'
import { identifySessions } from './start-session.ts'

export type LogOutServices = OfferedWays & Pick<Services, 'accountLog' | 'cookieWriter' | 'pendingSignIns' | 'sessions'>

/** Ends what this browser has: its session, and a sign-in that waits for more. Takes their cookies away. */
export const logOut = async (deps: LogOutServices, context: RequestContext): Promise<void> => {
  const ended = (await identifySessions(deps, context)).map(({ session }) => session)
  for (const session of ended) await deps.sessions.end(session, 'logout', context)
  // A login in another tab may have replaced this session a moment ago: its new session ends too.
  const { refresh } = context.cookies
  if (refresh) ended.push(...(await deps.sessions.endSuccessor(refresh, context)))
  for (const { userId, sessionId } of ended) deps.accountLog.record(context, { event: 'logout', userId, sessionId })
  const pending = readPending(deps, context)
  if (pending) await deps.pendingSignIns.end(pending)
  if (context.cookies.pending) context.setCookies([deps.cookieWriter.pending()])
  context.signOut()
  stayAtLogin(deps, context)
}
