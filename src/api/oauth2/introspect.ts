import { type AuthenticatedKey, requireScope } from '../../api-keys/api-keys.ts'
import type { Clients } from '../../clients/clients.ts'
import { oauthError } from '../../clients/oauth-error.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { createAuthenticateClient, readBasic, requireParameter, requireUnrepeated } from './client-authentication.ts'
import { bearerOf } from './userinfo.ts'

type IntrospectDeps = Pick<Services, 'apiKeys' | 'limits'> & Pick<Clients, 'registry' | 'requests'>

/** Answers `POST /auth/oauth2/introspect` (RFC 7662). */
export const createIntrospect = ({ apiKeys, limits, registry, requests }: IntrospectDeps) => {
  const authenticateClient = createAuthenticateClient({ registry })

  const requireKey = async (context: RequestContext, text: string): Promise<AuthenticatedKey> => {
    const key = await apiKeys.authenticate(text)
    if (key) return key
    return limits.attempt([['wrongKeyOfAddress', { network: context.network }]], async () => {
      throw oauthError('invalid_client', 'The API key is not good: it is wrong, was revoked, or has expired.')
    })
  }

  /** Resolves to the client whose tokens alone are shown, or to undefined for a key, which may look at all. */
  const authenticate = async (context: RequestContext): Promise<string | undefined> => {
    const bearer = bearerOf(context)
    const text = bearer ?? keyIn(readBasic(context)?.secret)
    if (text !== undefined) {
      const key = await requireKey(context, text)
      context.apiKey = key
      requireScope(key, 'tokens:introspect')
      return undefined
    }
    const client = await authenticateClient(context)
    if (client.type === 'web') return client.id
    throw oauthError('invalid_client', 'This client is public: it cannot look at tokens.')
  }

  return {
    async handle(context: RequestContext): Promise<HttpResponse> {
      refuseBrowser(context)
      requireUnrepeated(context)
      const clientId = await authenticate(context)
      const token = requireParameter(context, 'token')
      return json(200, JSON.stringify(await requests.introspect(token, clientId)))
    },
  }
}

const keyIn = (secret: string | undefined): string | undefined => (secret?.startsWith('svc_sk_') ? secret : undefined)

/** A page of another origin could have got hold of a key only by a mistake, and no page may ever use one. */
const refuseBrowser = ({ headers }: RequestContext): void => {
  if (headers.origin === undefined) return
  const message = 'The header Origin is there: this is for the backend of an application, and not for browsers.'
  throw new AppError('forbidden', message, { field: 'Origin' })
}
