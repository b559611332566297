import type { Client } from '../../clients/client.ts'
import type { Clients } from '../../clients/clients.ts'
import { oauthError } from '../../clients/oauth-error.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import {
  createAuthenticateClient,
  optionalParameter,
  requireParameter,
  requireUnrepeated,
} from './client-authentication.ts'

type Grant = (client: Client, context: RequestContext) => Promise<object>

/** Answers `POST /auth/oauth2/token` (RFC 6749 section 3.2) and `revoke` (RFC 7009). */
export const createTokenRoutes = ({ registry, requests }: Pick<Clients, 'registry' | 'requests'>) => {
  const authenticate = createAuthenticateClient({ registry })

  const grants: Record<string, Grant> = {
    authorization_code: (client, context) =>
      requests.trade(
        client,
        {
          code: requireParameter(context, 'code'),
          verifier: requireParameter(context, 'code_verifier'),
          redirectUri: optionalParameter(context, 'redirect_uri'),
          resource: optionalParameter(context, 'resource'),
        },
        context,
      ),

    refresh_token: (client, context) =>
      requests.refresh(
        client,
        {
          refreshToken: requireParameter(context, 'refresh_token'),
          scope: optionalParameter(context, 'scope'),
          resource: optionalParameter(context, 'resource'),
        },
        context,
      ),
  }

  return {
    token: {
      async handle(context: RequestContext): Promise<HttpResponse> {
        requireUnrepeated(context)
        const name = requireParameter(context, 'grant_type')
        const client = await authenticate(context)
        const grant = Object.hasOwn(grants, name) ? grants[name] : undefined
        if (!grant)
          throw oauthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
        return json(200, JSON.stringify(await grant(client, context)))
      },
    },

    revoke: {
      async handle(context: RequestContext): Promise<HttpResponse> {
        requireUnrepeated(context)
        const client = await authenticate(context)
        await requests.revoke(client, requireParameter(context, 'token'), context)
        return { status: 200, contentType: '', body: '' }
      },
    },
  }
}
