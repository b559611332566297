import type { Client } from '../../clients/client.ts'
import type { Clients } from '../../clients/clients.ts'
import { oauthError } from '../../clients/oauth-error.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** What a client has sent about itself. */
interface Credentials {
  id: string
  /** It is undefined for a public client. */
  secret: string | undefined
}

/** Identifies the client of a request, or throws `invalid_client`. */
export type AuthenticateClient = (context: RequestContext) => Promise<Client>

/** Gives the value of a parameter; an empty one counts as left out (RFC 6749 section 3.1). */
export const optionalParameter = ({ form }: Pick<RequestContext, 'form'>, name: string): string | undefined =>
  form.get(name) || undefined

/** Gives the value of a parameter that must be there. */
export const requireParameter = (context: Pick<RequestContext, 'form'>, name: string): string => {
  const value = optionalParameter(context, name)
  if (value === undefined) throw oauthError('invalid_request', `The parameter ${name} is missing.`)
  return value
}

/** No parameter may come twice, known or not (RFC 6749 section 3.2). */
export const requireUnrepeated = ({ form }: Pick<RequestContext, 'form'>): void => {
  for (const name of form.names) form.get(name)
}

/** RFC 6749 section 2.3.1 encodes both as in a form, before the colon is put between them. */
const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Reads the header of RFC 7617; it is undefined if there is none. */
export const readBasic = ({ headers }: Pick<RequestContext, 'headers'>): Credentials | undefined => {
  const [, encoded] = /^Basic +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const text = BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : ''
  const colon = text.indexOf(':')
  const [id, secret] = [formDecoded(text.slice(0, Math.max(0, colon))), formDecoded(text.slice(colon + 1))]
  if (!id || secret === undefined) throw oauthError('invalid_client', 'The header Authorization is not readable.')
  return { id, secret: secret || undefined }
}

const readCredentials = (context: RequestContext): Credentials => {
  const { authorization } = context.headers
  const id = optionalParameter(context, 'client_id')
  const secret = optionalParameter(context, 'client_secret')
  if (authorization === undefined) {
    if (id === undefined) throw oauthError('invalid_client', 'The parameter client_id is missing.')
    return { id, secret }
  }
  const basic = readBasic(context)
  if (!basic) throw oauthError('invalid_client', 'The header Authorization must have the scheme Basic.')
  if (secret !== undefined)
    throw oauthError('invalid_request', 'client_secret came twice: in a header, and in the body.')
  if (id !== undefined && id !== basic.id)
    throw oauthError('invalid_request', 'client_id is another one than in the header Authorization.')
  return basic
}

/** A confidential client proves its secret; a public one has none, and says who it is (RFC 6749 section 2.3). */
export const createAuthenticateClient =
  ({ registry }: Pick<Clients, 'registry'>): AuthenticateClient =>
  async (context) => {
    const { id, secret } = readCredentials(context)
    const client = await registry.find(id)
    if (!client) throw oauthError('invalid_client', 'There is no client with this client_id, or it is disabled.')
    if (client.type !== 'web') {
      if (secret === undefined) return client
      throw oauthError('invalid_client', 'This client is public: it has no secret.')
    }
    if (secret !== undefined && (await registry.checkSecret(client, secret, context.network))) return client
    throw oauthError('invalid_client', secret === undefined ? 'client_secret is missing.' : 'client_secret is wrong.')
  }
