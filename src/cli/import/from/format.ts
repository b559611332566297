import type { Item } from '../item.ts'

/** What an import cannot carry over, and the operator should know. */
export type Loss =
  | 'second factors'
  | 'passkeys'
  | 'sign-in with a provider that is not configured here'
  | 'usernames'
  | 'roles'

/** A user in the fields of `svc users import`, made from what another system has exported. */
export interface Converted {
  /** Undefined: no user, such as the account of a program. */
  user: Record<string, unknown> | undefined
  /** Finds the hash of the password; `unprocessable` when svc cannot check such a hash. */
  hashOf: () => string | undefined
  losses: Loss[]
}

export interface FormatOptions {
  /** The issuer of a configured provider. */
  issuerOf: (provider: string) => string | undefined
  /** The content of the file with the parameters of the hashes; only Firebase has one. */
  hashParameters: string | undefined
}

/** How the export of another system is read. */
export interface Format {
  read: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Item>
  convert: (value: unknown, options: FormatOptions) => Converted
}
