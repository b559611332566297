import type { Loss } from './format.ts'

/**
 * The field `username`. One that svc does not accept is left out, so that svc makes another: nobody signs in with it. An
 * email in its place is no loss.
 */
export const usernameField = (name: string | undefined): { username: string | undefined; losses: Loss[] } => {
  if (name !== undefined && /^[A-Za-z0-9_-]{3,30}$/.test(name)) return { username: name, losses: [] }
  return { username: undefined, losses: name === undefined || name.includes('@') ? [] : ['usernames'] }
}
