/** Something that happened to the account of a user, as the account page tells of it. */
export interface ActivityView {
  /** The name of the record (docs/audit.md). */
  type: string
  atMs: number
  by: 'user' | 'operator' | 'service'
  /** Undefined where the user did not do it, or it is not known. */
  userAgent: string | undefined
  address: string | undefined
  /** `password`, `passkey`, `code`, `recovery_code`, `link`, `invitation`, or the label of a provider. */
  method: string | undefined
  /** Why a proof was refused. */
  reason: string | undefined
  /** How many of the same; 1 for most. */
  count: number
  /** Whether it is the session of the request. */
  isCurrent: boolean
}
