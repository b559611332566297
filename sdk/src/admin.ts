import { type AuditApi, createAudit } from './admin/audit.ts'
import { type AdminSettings, createCaller } from './admin/call.ts'
import { createSessions, type SessionsApi } from './admin/sessions.ts'
import { createUsers, type UsersApi } from './admin/users.ts'
import { readSettings } from './auth/settings.ts'

export { AdminError } from './admin/admin-error.ts'
export type { AuditApi, AuditEvent, AuditEventPage, AuditFilter } from './admin/audit.ts'
export type { Session, SessionsApi } from './admin/sessions.ts'
export type {
  AdminUser,
  CreatedUser,
  LinkRequest,
  NewUser,
  SecondFactorReset,
  UserChanges,
  UserFilter,
  UserLink,
  UserPage,
  UsersApi,
} from './admin/users.ts'
export type { WriteOptions } from './admin/call.ts'
export { SvcUnavailableError } from './svc-unavailable-error.ts'

export interface AdminOptions {
  /** The address of svc as the backend reaches it. Default: `SVC_URL`. */
  url?: string | undefined
  /** A key that `svc api-keys create` has made. */
  apiKey: string
  /** How long one request may take, in milliseconds. Default: 5000. */
  timeoutMs?: number | undefined
}

/** The server API of svc, for the backend of an application. */
export interface Admin {
  users: UsersApi
  sessions: SessionsApi
  /** Events of what happened. */
  audit: AuditApi
}

// Whatever a header could not carry, or a whole line of a file with the key in it, is no key.
const readKey = (apiKey: string): string => {
  if (/^svc_sk_[\w-]+$/.test(apiKey)) return apiKey
  throw new TypeError('apiKey must be a key that "svc api-keys create" has made: it begins with svc_sk_')
}

/** Connects the backend of an application to the server API. Throws a `TypeError` for a wrong setting. */
export const createAdmin = ({ apiKey, ...options }: AdminOptions): Admin => {
  const { url, timeoutMs } = readSettings(options)
  const settings: AdminSettings = { url, timeoutMs, apiKey: readKey(apiKey) }
  const call = createCaller(settings)
  return { users: createUsers(call), sessions: createSessions(call), audit: createAudit(call) }
}
