/** svc refused a call. */
export class AdminError extends Error {
  override name = 'AdminError'
  readonly status: number
  /** For programs, such as `not_found`, `conflict` or `unprocessable`. */
  readonly code: string
  /** The field that is wrong or taken; always there for `conflict` and `unprocessable`. */
  readonly field: string | undefined
  /** Finds the line in the log of svc. */
  readonly requestId: string | undefined

  constructor({ status, code, message, field, requestId }: Omit<AdminError, 'name' | 'stack' | 'cause'>) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
    this.requestId = requestId
  }
}

interface Envelope {
  error: { code: string; message: string; field?: string; request_id?: string }
}

const isEnvelope = (value: unknown): value is Envelope => {
  const { error } = (value ?? {}) as { error?: Partial<Envelope['error']> }
  return typeof error?.code === 'string' && typeof error.message === 'string'
}

/** The error of a JSON answer, or undefined for one that is not of svc. */
export const readAdminError = (status: number, value: unknown): AdminError | undefined => {
  if (!isEnvelope(value)) return undefined
  const { code, message, field, request_id: requestId } = value.error
  return new AdminError({ status, code, message, field, requestId })
}
