import { AccessTokenError } from '../auth/signed-token.ts'
import { printOutage } from '../guard/outage.ts'
import { headerOf, type RequestLike } from '../request/source.ts'
import { readRevocations } from '../revocations/settings.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import { type ClientToken, createClientTokenVerifier, scopesOf } from './client-token.ts'
import { type Answer, createHandler, type Handler } from './handler.ts'
import { metadataAddressOf } from './metadata-address.ts'
import { refuseDuringOutage, refuseScope, refuseToken, refuseWithoutToken } from './refusal.ts'
import { readResource, readScopes, readSource, type ResourceOptions } from './settings.ts'

/** By the object that the application has of a request. */
const admitted = new WeakMap<object, ClientToken>()

/**
 * The token of a request that `requireToken()` has let through: of the request of Express or Fastify, of the context of
 * Hono, of the `Request`. Throws a `TypeError` where `requireToken()` did not run.
 */
export const tokenOf = (request: object): ClientToken => {
  const token = admitted.get(request)
  if (token) return token
  throw new TypeError('No token is known of this request: put requireToken() in front of its handler.')
}

/** What stands behind `Bearer`; undefined where the header is missing or of another scheme. */
const bearerOf = (source: RequestLike): string | undefined =>
  /^bearer(?: +|$)(.*)/i.exec(headerOf(source, 'authorization') ?? '')?.[1]

/**
 * Lets requests through that have an access token of a client for this resource, with all of the scopes; `tokenOf()` gives
 * what it says. Others get 401 with the address of the resource's document, a token with too few scopes 403. While the keys
 * of svc cannot be read, or svc would have to be asked and cannot be, the answer is 503. Cookies count for nothing here. Throws a `TypeError` for a setting that is
 * wrong.
 */
export const requireToken = (options: ResourceOptions): Handler => {
  const { onUnavailable = printOutage } = options
  const resource = readResource(options.resource)
  const needed = { metadata: metadataAddressOf(resource), scopes: readScopes(options.scopes) }
  const verify = createClientTokenVerifier(readSource(options), resource, readRevocations(options.revocations))

  const refusalOf = (error: unknown): Answer => {
    if (error instanceof AccessTokenError) return refuseToken(needed)
    if (!(error instanceof SvcUnavailableError)) throw error
    onUnavailable(error)
    return refuseDuringOutage(error)
  }

  return createHandler(async (source, holder) => {
    const text = bearerOf(source)
    if (text === undefined) return refuseWithoutToken(needed)
    try {
      const token = await verify(text)
      const scopes = scopesOf(token)
      if (!needed.scopes.every((scope) => scopes.includes(scope))) return refuseScope(needed)
      admitted.set(holder, token)
      return undefined
    } catch (error) {
      return refusalOf(error)
    }
  })
}
