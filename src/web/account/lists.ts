import { AppError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { Services } from '../../http/services.ts'
import { type AuthenticatedSession, currentTimeMs } from '../../sessions/sessions.ts'
import { isAccountDone } from '../site/account-done.ts'
import { isDone } from '../site/done.ts'
import type { ScreenServices } from '../site/frame.ts'
import { createActivityPage, createDevicesPage } from './list-pages.ts'
import { findActivityPage } from './sections.ts'

/** A page shows so many. */
const DEVICES = 25
const EVENTS = 50

/** An account has at most 100 sessions, and more only from before there was a limit. */
const MOST_SESSIONS = 1000

/** Reads the id of the last session of the page before. */
const readCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined || isUuid(cursor)) return cursor
  throw new AppError('invalid_request', 'The query parameter "cursor" must be that of a link to the next page.', {
    field: 'cursor',
  })
}

/** Handles the pages of all devices and of all that happened. */
export const createAccountLists = (
  deps: Pick<ScreenServices, 'layout'> &
    Pick<Services, 'audit' | 'clock' | 'passwords' | 'providers' | 'sessions' | 'users'>,
) => {
  const { sessions, clock, layout, passwords, users } = deps
  const devicesPage = createDevicesPage(layout)
  const activityPage = createActivityPage(layout)

  const view = async (context: RequestContext, session: AuthenticatedSession, cursor: string | undefined) => ({
    csrfToken: context.csrfToken,
    email: session.email,
    nowMs: currentTimeMs(session, clock),
    isLater: cursor !== undefined,
    hasPassword: passwords && (await users.hasPassword(session.userId)),
  })

  /**
   * The latest login comes first: an order that stays, so that no page misses a device that is used while the user
   * turns the page. Ids are in the order of logins.
   */
  const findDevices = async (session: AuthenticatedSession, cursor: string | undefined) => {
    const { sessions: all } = await sessions.list(session.userId, MOST_SESSIONS, session)
    const isCurrent = ({ id }: { id: string }): boolean => id === session.sessionId
    const others = all
      .filter((one) => !isCurrent(one) && (cursor === undefined || one.id < cursor))
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    const shown = others.slice(0, DEVICES)
    const first = cursor === undefined ? all.filter(isCurrent) : []
    return {
      sessions: [...first, ...shown].map((one) => ({ ...one, current: isCurrent(one) })),
      nextCursor: others.length > shown.length ? shown.at(-1)?.id : undefined,
    }
  }

  return {
    devices: {
      async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
        const cursor = readCursor(context.query.get('cursor'))
        const what = context.query.get('done')
        const done = isAccountDone(what) && isDone(context, what, session.userId) ? what : undefined
        const shown = { ...(await view(context, session, cursor)), ...(await findDevices(session, cursor)), done }
        return page(200, devicesPage(shown))
      },
    },

    activity: {
      async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
        const cursor = context.query.get('cursor')
        const shown = {
          ...(await view(context, session, cursor)),
          ...(await findActivityPage(deps, session, { limit: EVENTS, cursor })),
        }
        return page(200, activityPage(shown))
      },
    },
  }
}
