import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { errors, Provider, type Context } from 'oidc-provider'
import { listenOnLoopback } from '../provider/loopback-provider.ts'
import { createAdapters } from '../provider/openid-provider-adapter.ts'
import { createUserAgent, type UserAgent } from '../client/user-agent.ts'
import { CLIENT_SETTINGS, REDIRECT_URI } from './authorization.ts'
import type { Made } from './tokens.ts'

/** A server of OAuth with users and clients: svc, or the one that it is compared with. */
export type Server = {
  url: string
  issuer: string
  /** A browser that is logged in, and one that is not. */
  agent: UserAgent
  stranger: UserAgent
  /** Confidential: the user is not asked. */
  web: Made
  /** Public: the user is not asked. */
  phone: Made
  /** Confidential: the user has to be asked. */
  asking: Made
}

const HOUR = 3600
const RESOURCES = CLIENT_SETTINGS.SVC_CLIENT_RESOURCES.split(',')
const APPLICATION_SCOPES = 'notes:read notes:write'

const metadataOf = ({ id, secret }: Made) => ({
  client_id: id,
  client_secret: secret,
  token_endpoint_auth_method: secret === undefined ? 'none' : 'client_secret_basic',
  redirect_uris: [REDIRECT_URI],
  response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token'],
  id_token_signed_response_alg: 'ES256',
})

const grantTo =
  (asking: Made) =>
  async ({ oidc }: Context) => {
    if (oidc.client.clientId === asking.id) return undefined
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
    grant.addOIDCScope(String(oidc.params.scope))
    for (const resource of RESOURCES) grant.addResourceScope(resource, APPLICATION_SCOPES)
    await grant.save()
    return grant
  }

const resourceInfo = (_: Context, resource: string) => {
  if (!RESOURCES.includes(resource)) throw new errors.InvalidTarget()
  return { scope: APPLICATION_SCOPES, audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
}

const isOwn = (_: Context, client: { clientId: string }, token: { clientId: string }): boolean =>
  token.clientId === client.clientId

/** Its addresses, its rules for refresh tokens and its profile are those of svc where it can be told so. */
const settings = (asking: Made) => ({
  acrValues: ['mfa'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'updated_at'] },
  conformIdTokenClaims: false,
  cookies: { keys: [randomBytes(32).toString('hex')] },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: { enabled: true, getResourceServerInfo: resourceInfo, useGrantedResource: () => false },
    introspection: { enabled: true, allowedPolicy: isOwn },
    revocation: { enabled: true, allowedPolicy: isOwn },
    rpInitiatedLogout: { enabled: true },
  },
  findAccount: (_: Context, sub: string) => ({
    accountId: sub,
    claims: () => ({ sub, email: 'person@example.com', email_verified: true }),
  }),
  interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
  issueRefreshToken: () => true,
  jwks: {
    keys: [
      { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), alg: 'ES256' },
    ],
  },
  loadExistingGrant: grantTo(asking),
  pkce: { required: () => true },
  renderError: (context: Context, fault: object) => {
    context.body = JSON.stringify(fault)
  },
  routes: {
    authorization: '/auth/oauth2/authorize',
    end_session: '/auth/oauth2/logout',
    introspection: '/auth/oauth2/introspect',
    revocation: '/auth/oauth2/revoke',
    token: '/auth/oauth2/token',
    userinfo: '/auth/oauth2/userinfo',
  },
  ttl: {
    AccessToken: HOUR,
    AuthorizationCode: 60,
    Grant: HOUR,
    IdToken: HOUR,
    Interaction: HOUR,
    RefreshToken: HOUR,
    Session: HOUR,
  },
})

/** Starts oidc-provider with these clients, and logs a browser in. It ends with the file. */
export const startOracle = async (
  clients: Pick<Server, 'web' | 'phone' | 'asking'>,
  authorizePath: string,
): Promise<Server> => {
  const { origin, onRequest } = await listenOnLoopback({})
  const known = new Map(Object.values(clients).map((client) => [client.id, metadataOf(client)]))
  const adapter = createAdapters((id) => structuredClone(known.get(id)))
  const provider = new Provider(origin, { adapter, ...settings(clients.asking) })
  provider.silent = true
  const protocol = provider.callback()
  // Anyone who opens its page is logged in.
  onRequest((request, response) =>
    request.url?.startsWith('/interaction/')
      ? provider.interactionFinished(request, response, { login: { accountId: 'person' } })
      : protocol(request, response),
  )
  const agent = createUserAgent({ url: origin })
  const asked = await agent.get(authorizePath)
  const back = await agent.get(asked.location ?? '')
  await agent.get((back.location ?? '').slice(origin.length))
  return { url: origin, issuer: origin, agent, stranger: createUserAgent({ url: origin }), ...clients }
}
