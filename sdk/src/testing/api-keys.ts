import { randomUUID } from 'node:crypto'
import { type Admin, createAdmin } from '../admin.ts'
import { runSvc, type SvcCommand } from './svc-process.ts'

/** A scope of the server API. */
export type Scope =
  | 'users:read'
  | 'users:write'
  | 'credentials:write'
  | 'sessions:read'
  | 'sessions:write'
  | 'audit:read'
  | 'clients:read'
  | 'clients:write'
  | 'tokens:introspect'

const ALL: Scope[] = ['users:write', 'credentials:write', 'sessions:read', 'sessions:write', 'audit:read']

/** Makes keys of the server API, and one client with all scopes, at its first use. */
export const createKeys = (command: Omit<SvcCommand, 'args'>, url: string) => {
  const createApiKey = async (...scopes: Scope[]): Promise<string> => {
    const options = (scopes.length > 0 ? scopes : ALL).flatMap((scope) => ['--scope', scope])
    return (await runSvc({ ...command, args: ['api-keys', 'create', `test-${randomUUID()}`, ...options] })).trim()
  }
  let found: Promise<Admin> | undefined
  return {
    createApiKey,
    admin: (): Promise<Admin> => (found ??= createApiKey().then((apiKey) => createAdmin({ url, apiKey }))),
  }
}
