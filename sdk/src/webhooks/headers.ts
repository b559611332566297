import { type HeaderRecord, headerOf, type HeadersLike } from '../request/source.ts'
import { decodeBase64 } from './base64.ts'
import { WebhookVerificationError } from './webhook-verification-error.ts'

interface WebhookHeaders {
  id: string
  /** Seconds since 1970. */
  timestamp: number
  /** Those of version 1; other versions are left out. */
  signatures: Uint8Array<ArrayBuffer>[]
}

/** Throws `WebhookVerificationError` where a header is missing, repeated or malformed. */
export const readHeaders = (headers: HeadersLike | HeaderRecord): WebhookHeaders => {
  const requireHeader = (name: string, form: RegExp): string => {
    const value = headerOf({ headers }, name)
    if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`)
    // Repeated headers arrive as one, with a comma and a space in between.
    if (!form.test(value)) throw new WebhookVerificationError(`The header ${name} is malformed or repeated.`)
    return value
  }
  const id = requireHeader('webhook-id', /^[\w.-]{1,255}$/)
  const timestamp = Number(requireHeader('webhook-timestamp', /^[1-9]\d{0,11}$/))
  const signatures = requireHeader('webhook-signature', /^\w+,[^\s,]+(?: \w+,[^\s,]+)*$/)
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? (decodeBase64(signature.slice(3)) ?? []) : []))
  return { id, timestamp, signatures }
}
