import { hash } from 'node:crypto'
import type { Scope } from './scopes.ts'

/** A key of the server API, without its secret. Times in milliseconds since 1970. */
export interface ApiKey {
  id: string
  /** Unique among the keys that are not revoked. */
  name: string
  /** As they were given, without those that they include. */
  scopes: Scope[]
  createdAtMs: number
  /** Undefined: never. */
  expiresAtMs: number | undefined
  revokedAtMs: number | undefined
  /** To the minute. */
  lastUsedAtMs: number | undefined
}

/** The key of a request. */
export interface AuthenticatedKey {
  id: string
  name: string
  /** With those that they include. */
  scopes: ReadonlySet<Scope>
}

/** A text of 256 random bits needs no slow hash. */
export const hashOf = (text: string): string => hash('sha256', text, 'base64url')
