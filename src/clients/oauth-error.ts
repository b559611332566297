import { AppError } from '../lib/errors.ts'

/** Clients are told about failures by these names (RFC 6749 section 5.2, RFC 8707, RFC 6750 section 3.1). */
export type OAuthErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'insufficient_scope'

const CODES = {
  invalid_client: 'unauthorized',
  invalid_token: 'unauthorized',
  insufficient_scope: 'forbidden',
} as const

const codeOf = (name: OAuthErrorName): AppError['code'] =>
  name in CODES ? CODES[name as keyof typeof CODES] : 'invalid_request'

/** The description is for the developer of the client. */
export const oauthError = (name: OAuthErrorName, description: string): AppError =>
  new AppError(codeOf(name), description, { reason: name })
