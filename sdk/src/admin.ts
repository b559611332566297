import { type AuditApi, createAudit } from './admin/audit.ts'
import { createCaller } from './admin/call.ts'
import { type ClientsApi, createClients, createGrants, type GrantsApi } from './admin/clients.ts'
import { createSessions, type SessionsApi } from './admin/sessions.ts'
import { createUsers, type UsersApi } from './admin/users.ts'
import { readSettings } from './auth/settings.ts'

export { AdminError } from './admin/admin-error.ts'
export type { AuditApi, AuditEvent, AuditEventPage, AuditFilter } from './admin/audit.ts'
export type {
  Client,
  ClientChanges,
  ClientsApi,
  ClientSecret,
  CreatedClient,
  Grant,
  GrantsApi,
  NewClient,
} from './admin/clients.ts'
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
  /** A key that `svc api-keys create` has made. Default: `SVC_API_KEY`. */
  apiKey?: string | undefined
  /** How long one request may take, in milliseconds. Default: 5000. */
  timeoutMs?: number | undefined
}

/** The server API of svc, for the backend of an application. */
export interface Admin {
  users: UsersApi
  sessions: SessionsApi
  /** Programs that users give access. svc answers `not_found` while `SVC_CLIENTS` is off. */
  clients: ClientsApi
  /** The access of clients to accounts. */
  grants: GrantsApi
  /** Events of what happened. */
  audit: AuditApi
}

/**
 * Connects the backend of an application to the server API. Throws a `TypeError` for a wrong setting. One that is missing
 * is an error of the first call.
 */
export const createAdmin = (options: AdminOptions = {}): Admin => {
  const call = createCaller(readSettings(options))
  return {
    users: createUsers(call),
    sessions: createSessions(call),
    clients: createClients(call),
    grants: createGrants(call),
    audit: createAudit(call),
  }
}
