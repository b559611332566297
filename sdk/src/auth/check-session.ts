import { AdminError } from '../admin/admin-error.ts'
import { type AdminSettings, createCaller } from '../admin/call.ts'
import { createSessions } from '../admin/sessions.ts'

/** Asks svc whether a session lives. */
export const createSessionCheck = (settings: AdminSettings): ((sid: string) => Promise<boolean>) => {
  const sessions = createSessions(createCaller(settings))
  return async (sid) => {
    if (typeof sid !== 'string') throw new TypeError('checkSession takes the sid of a user or of an access token')
    try {
      await sessions.get(sid)
      return true
    } catch (error) {
      if (error instanceof AdminError && error.code === 'not_found') return false
      throw error
    }
  }
}
