import { deviceName } from '../../web/site/device.ts'
import { plural } from '../site/parts.ts'
import { endingLines, type UserAct } from './user-act.ts'

const endSession: UserAct = {
  path: 'end-session',
  does: 'user.end_session',
  event: 'session_end',
  title: 'End a session',
  ask: (_services, _subject, { query }) =>
    query.get('session') === undefined
      ? 'No session is named.'
      : {
          ends: ['The browser is signed out, at once and everywhere.', 'The user can sign in again.'],
          button: 'End the session',
        },
  async act({ sessions }, { user }, { query }, caller) {
    const id = query.get('session') ?? ''
    const { sessions: list } = await sessions.list(user.id, MOST_SESSIONS)
    const userAgent = list.find((session) => session.id === id)?.userAgent ?? ''
    await sessions.endOwn(user.id, id, { caller })
    return `The session in ${deviceName(userAgent)} has ended. The user can sign in again.`
  },
}

/** An account has at most 100 sessions, and more only from before there was a limit. */
const MOST_SESSIONS = 1000

const endSessions: UserAct = {
  path: 'end-sessions',
  does: 'user.end_sessions',
  event: 'session_end',
  title: 'End all sessions',
  ask: (_services, subject) => ({
    ends: [...endingLines(subject), 'The user can sign in again.'],
    button: 'End all sessions',
  }),
  async act({ sessions }, { user }, _context, caller) {
    const ended = await sessions.endAll(user.id, caller)
    return `${plural(ended, 'session')} ended. The user can sign in again.`
  },
}

const endGrant: UserAct = {
  path: 'end-grant',
  does: 'user.end_grant',
  event: 'client_disconnect',
  title: 'Disconnect an application',
  ask(_services, { grants }, { query }) {
    const grant = grants.find(({ id }) => id === query.get('grant'))
    if (!grant) return 'This application is not connected any more.'
    const name = grant.clientName ?? grant.clientId
    return {
      ends: [`${name} loses its access to the account at once.`, 'The user can connect it again.'],
      button: 'Disconnect it',
    }
  },
  async act({ loadClients }, { user }, { query }, caller) {
    const { grants } = await loadClients()
    await grants.endOfUser(user.id, { id: query.get('grant') ?? '' }, 'operator', caller)
    return 'The application is disconnected. The user can connect it again.'
  },
}

export const sessionActs: readonly UserAct[] = [endSession, endSessions, endGrant]
