import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'

/** A grant is a session of a user with a client. Times are in milliseconds since 1970. */
export interface Grant {
  /** It is a UUID of version 7, and the claim `sid` of the tokens. */
  id: string
  userId: string
  clientId: string
  /** It ends with this session of a browser; it is undefined if it lives by itself. */
  sessionId: string | undefined
  salt: string
  generation: number
  replacedAtMs: number[]
  createdAtMs: number
  lastUsedAtMs: number
  expiresAtMs: number
  absoluteExpiresAtMs: number
  scopes: readonly string[]
  /** It is undefined if the tokens are for `userinfo` alone. */
  resource: string | undefined
  authenticatedAtMs: number | undefined
  amr: readonly AuthenticationMethod[]
}

/** Why a grant has ended, as its record says. */
export type GrantEnd =
  | 'disconnected'
  | 'logout'
  | 'revoked'
  | 'client'
  | 'security'
  | 'limit'
  | 'reused'
  | 'code_reused'
  | 'replaced'
  | 'operator'
