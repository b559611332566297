import { AppError } from '../lib/errors.ts'
import type { Client } from './client.ts'
import { MAX_NAME_LENGTH, MAX_URIS, NAME_RULE, readClientName } from './client-rules.ts'
import { findUriProblem, isOnHosts, kindOfRedirect } from './redirect-uri.ts'

/** What a client says about itself, in a document or a registration (RFC 7591 section 2): nothing has been checked. */
export type ClientMetadata = Readonly<Record<string, unknown>>

/** The codes of RFC 7591 section 3.2.2. */
type MetadataError = 'invalid_redirect_uri' | 'invalid_client_metadata'

/** The reason is the code; the message is for the client's developer, and the field is a member of the metadata. */
export const metadataProblem = (reason: MetadataError, field: string, message: string): AppError =>
  new AppError('unprocessable', message, { field, reason })

/** This is true of every client that svc has from itself. */
const UNCHECKED = {
  // A public client of this type may have a private-use scheme, if the settings name it.
  type: 'native',
  backchannelLogoutUri: undefined,
  scopes: undefined,
  resources: [],
  firstParty: false,
  requireMfa: false,
  usedAtMs: undefined,
  disabledAtMs: undefined,
} as const satisfies Partial<Client>

type Unchecked = Omit<Client, 'id' | 'kind' | 'createdAtMs'>

/** Reads what counts of the metadata. Throws `unprocessable` with a code of RFC 7591 as its reason. */
export const readClientMetadata = (
  metadata: ClientMetadata,
  { hosts, host }: { hosts: readonly string[]; host?: string | undefined },
): Unchecked => {
  const redirectUris = readUris(metadata, 'redirect_uris')
  const counted = redirectUris.filter((uri) => counts(uri, hosts))
  const [first] = counted
  if (first === undefined) throw noRedirect(redirectUris, hosts)
  if (counted.length > MAX_URIS) {
    throw metadataProblem('invalid_redirect_uri', 'redirect_uris', `A client has at most ${MAX_URIS} redirect URIs.`)
  }
  const logoutUris = readUris(metadata, 'post_logout_redirect_uris').filter((uri) => counts(uri, hosts))
  const name = readName(metadata, host ?? hostOf(first))
  return { ...UNCHECKED, name, redirectUris: counted, logoutUris: logoutUris.slice(0, MAX_URIS) }
}

const counts = (uri: string, hosts: readonly string[]): boolean =>
  findUriProblem(uri, UNCHECKED.type) === undefined && isOnHosts(uri, hosts)

const readUris = (metadata: ClientMetadata, field: string): string[] => {
  const value = metadata[field] ?? []
  if (Array.isArray(value) && value.every((uri) => typeof uri === 'string')) return [...new Set<string>(value)]
  const reason = field === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  throw metadataProblem(reason, field, `${field} must be a list of texts.`)
}

const noRedirect = (sent: string[], hosts: readonly string[]): AppError => {
  const field = 'redirect_uris'
  const wrong = sent.map((uri) => [uri, findUriProblem(uri, UNCHECKED.type)] as const).find(([, problem]) => problem)
  if (wrong) return metadataProblem('invalid_redirect_uri', field, `${field}: ${JSON.stringify(wrong[0])} ${wrong[1]}.`)
  const accepted = ['127.0.0.1, [::1] and localhost', ...hosts].join(', ')
  const message = `${field} must have one that svc accepts here: those of ${accepted} are.`
  return metadataProblem('invalid_redirect_uri', field, message)
}

const readName = ({ client_name: given }: ClientMetadata, otherwise: string): string => {
  if (given === undefined || given === null) return otherwise.slice(0, MAX_NAME_LENGTH)
  const name = typeof given === 'string' ? readClientName(given) : undefined
  if (name !== undefined) return name
  throw metadataProblem('invalid_client_metadata', 'client_name', `client_name must be a text of ${NAME_RULE}.`)
}

const hostOf = (uri: string): string =>
  kindOfRedirect(uri) === 'private-use' ? new URL(uri).protocol : new URL(uri).host
