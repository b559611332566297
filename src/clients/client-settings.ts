import type { ClientScope } from './scope.ts'

/** These are the settings of clients. */
export interface ClientSettings {
  baseUrl: string
  /** It is the claim `iss` of tokens of clients: the base URL with `/auth`. */
  issuer: string
  resources: readonly string[]
  scopes: readonly ClientScope[]
  hosts: readonly string[]
  registration: boolean
  tokenMs: number
  grantIdleMs: number
  graceMs: number
}
