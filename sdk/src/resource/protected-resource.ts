import { createHandler, type Handler } from './handler.ts'
import { metadataAddressOf } from './metadata-address.ts'
import { answerAt } from './public-document.ts'
import { readResource, readScopes, readSource, type ResourceOptions } from './settings.ts'

/** What the document says besides. */
export interface ProtectedResourceOptions extends ResourceOptions {
  /** The name of the resource, for people. */
  name?: string | undefined
}

/**
 * Answers with the document about a resource (RFC 9728), at its address below `/.well-known/oauth-protected-resource`, and
 * lets all other requests through. `scopes` are all that the resource knows. Throws a `TypeError` for a setting that is
 * wrong.
 */
export const protectedResource = (options: ProtectedResourceOptions): Handler => {
  const { resource, name } = options
  const { pathname, search } = metadataAddressOf(readResource(resource))
  const scopes = readScopes(options.scopes)
  const { requireIssuer } = readSource(options)
  const write = () => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
    body: JSON.stringify({
      resource,
      authorization_servers: [requireIssuer()],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      ...(name !== undefined && { resource_name: name }),
    }),
  })
  return createHandler(answerAt((target) => target === pathname + search, write))
}
