import type { Client } from './client.ts'
import { type ClientMetadata, metadataProblem, readClientMetadata } from './client-metadata.ts'

const MAX_ID_LENGTH = 500

/** Tells whether an id is the URL of a metadata document: https, with a path, as the URL standard writes it. */
const isDocumentUrl = (id: string): boolean => {
  if (!id.startsWith('https://') || id.length > MAX_ID_LENGTH || !URL.canParse(id)) return false
  const { href, pathname, hash, username, password } = new URL(id)
  return href === id && pathname !== '/' && hash === '' && !id.includes('#') && username === '' && password === ''
}

/** Tells whether a client may have a metadata document there: its host is in `SVC_CLIENT_HOSTS`. */
export const isDocumentId = (id: string, hosts: readonly string[]): boolean =>
  isDocumentUrl(id) && hosts.includes(new URL(id).hostname)

/**
 * Reads the document of a client (draft-ietf-oauth-client-id-metadata-document). Throws `unprocessable`, with the
 * member that is wrong.
 */
export const readDocument = (
  id: string,
  document: ClientMetadata,
  hosts: readonly string[],
): Omit<Client, 'createdAtMs'> => {
  if (document.client_id !== id) {
    throw metadataProblem('invalid_client_metadata', 'client_id', 'client_id must be the URL of the document.')
  }
  requirePublic(document)
  return { ...readClientMetadata(document, { hosts, host: new URL(id).host }), id, kind: 'document' }
}

/** svc has no secret with a client that it has never met, and looks at no key of one. */
const requirePublic = (document: ClientMetadata): void => {
  const { token_endpoint_auth_method: method = 'none', token_endpoint_auth_methods_supported: supported } = document
  const isPublic = method === 'none' || (Array.isArray(supported) && supported.includes('none'))
  if (!isPublic) {
    const field = 'token_endpoint_auth_method'
    throw metadataProblem('invalid_client_metadata', field, `${field} must be none: svc has no secret of this client.`)
  }
  for (const field of ['client_secret', 'client_secret_expires_at']) {
    if (document[field] === undefined) continue
    throw metadataProblem('invalid_client_metadata', field, `A document must have no ${field}: anybody can read it.`)
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Computes for how long a document need not be fetched again, by its headers (RFC 9111): a minute to an hour. */
export const freshnessOf = (headers: Readonly<Record<string, string | undefined>>, nowMs: number): number =>
  Math.min(Math.max(lifetimeOf(headers, nowMs), MINUTE_MS), HOUR_MS)

const lifetimeOf = (headers: Readonly<Record<string, string | undefined>>, nowMs: number): number => {
  const control = headers['cache-control']?.toLowerCase() ?? ''
  if (/\bno-(?:store|cache)\b/.test(control)) return 0
  const [, seconds] = /\bmax-age="?([0-9]{1,9})/.exec(control) ?? []
  const ageMs = 1000 * (Number(headers.age) || 0)
  if (seconds !== undefined) return Number(seconds) * 1000 - ageMs
  const expiresAtMs = Date.parse(headers.expires ?? '')
  return Number.isNaN(expiresAtMs) ? 0 : expiresAtMs - (Date.parse(headers.date ?? '') || nowMs)
}
