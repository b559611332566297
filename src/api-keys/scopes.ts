import { AppError } from '../lib/errors.ts'

/** What an API key may do. The names are public (CONTRACT.md 10.1). */
export const SCOPES = [
  'users:read',
  'users:write',
  'credentials:write',
  'sessions:read',
  'sessions:write',
  'audit:read',
] as const

export type Scope = (typeof SCOPES)[number]

/** The scopes that another one includes. */
const INCLUDED: Partial<Record<Scope, readonly Scope[]>> = { 'users:write': ['users:read'] }

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)

/** The scopes of a key, with those that they include. */
export const withIncluded = (scopes: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(scopes.flatMap((scope) => [scope, ...(INCLUDED[scope] ?? [])]))

/** `forbidden`, naming the scope, when a key does not have it. */
export const requireScope = ({ scopes }: { scopes: ReadonlySet<Scope> }, scope: Scope): void => {
  if (scopes.has(scope)) return
  throw new AppError('forbidden', `The API key does not have the scope "${scope}".`, { field: scope })
}
