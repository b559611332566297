import { hash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'

/** An API key may do what its scopes say. The names are public (CONTRACT.md 10.1). */
export const SCOPES = [
  'users:read',
  'users:write',
  'credentials:write',
  'sessions:read',
  'sessions:write',
  'audit:read',
  'clients:read',
  'clients:write',
  'tokens:introspect',
  'revocations:read',
] as const

export type Scope = (typeof SCOPES)[number]

const INCLUDED: Partial<Record<Scope, readonly Scope[]>> = {
  'users:write': ['users:read'],
  'clients:write': ['clients:read'],
}

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)

export const withIncluded = (scopes: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(scopes.flatMap((scope) => [scope, ...(INCLUDED[scope] ?? [])]))

/** Throws `forbidden`, naming the scope, when a key does not have it. */
export const requireScope = ({ scopes }: Pick<AuthenticatedKey, 'scopes'>, scope: Scope): void => {
  if (scopes.has(scope)) return
  throw new AppError('forbidden', `The API key does not have the scope "${scope}".`, { field: scope })
}

/** A key of the server API, without its secret. Times in milliseconds since 1970. */
export interface ApiKey {
  id: string
  /** The name is unique among the keys that are not revoked. */
  name: string
  /** The scopes as they were given, without those that they include. */
  scopes: Scope[]
  createdAtMs: number
  /** Undefined: never. */
  expiresAtMs: number | undefined
  revokedAtMs: number | undefined
  /** The time is exact to the minute. */
  lastUsedAtMs: number | undefined
}

export interface AuthenticatedKey {
  id: string
  name: string
  /** The scopes with those that they include. */
  scopes: ReadonlySet<Scope>
}

/** A text of 256 random bits needs no slow hash. */
export const hashOf = (text: string): string => hash('sha256', text, 'base64url')

/** With this header, a request has one effect, however often it comes. */
export const IDEMPOTENCY_FIELD = 'Idempotency-Key'
