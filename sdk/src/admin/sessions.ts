import type { components } from './api-types.ts'
import type { Caller } from './call.ts'

/** A live session; its `id` is the claim `sid` of access tokens. */
export type Session = components['schemas']['Session']

export interface SessionsApi {
  /** The live sessions of a user, the last seen first. */
  list(userId: string): Promise<Session[]>
  /** A live session. Throws `AdminError` with the code `not_found` once it has ended. */
  get(id: string): Promise<Session>
  /** Ends a session at once, on every replica. */
  end(id: string): Promise<void>
  /** Ends all sessions of a user at once, on every replica. */
  endAll(userId: string): Promise<void>
}

export const createSessions = (call: Caller): SessionsApi => {
  return {
    async list(userId) {
      const { sessions } = await call<{ sessions: Session[] }>({ method: 'GET', path: ['users', userId, 'sessions'] })
      return sessions
    },
    get: (id) => call({ method: 'GET', path: ['sessions', id] }),
    end: (id) => call({ method: 'DELETE', path: ['sessions', id] }),
    endAll: (userId) => call({ method: 'DELETE', path: ['users', userId, 'sessions'] }),
  }
}
