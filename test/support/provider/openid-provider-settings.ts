import { generateKeyPair, randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import type { Context } from 'oidc-provider'
import { escapeHtml } from './loopback-provider.ts'
import type { OpenIdUser } from './openid-provider-users.ts'

const signingKey = async () => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: randomUUID() }
}

const MINUTES = 60
const HOURS = 60 * MINUTES

// The package's own lifetimes, in seconds: without them it prints a notice for each.
const ttl = { AccessToken: HOURS, Grant: HOURS, IdToken: HOURS, Interaction: HOURS, Session: HOURS }

/** Every user agrees to all requested scopes. */
const grantEverything = async ({ oidc }: Context) => {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
  grant.addOIDCScope(String(oidc.params.scope))
  await grant.save()
  return grant
}

const renderError = (context: Context, fault: object): void => {
  context.type = 'html'
  context.body = `<!doctype html><title>Error</title><pre>${escapeHtml(JSON.stringify(fault, null, 2))}</pre>`
}

/** All settings of the provider except its storage. */
export const openIdSettings = async (people: Map<string, OpenIdUser>) => ({
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
  conformIdTokenClaims: false,
  cookies: { keys: [randomBytes(32).toString('hex')] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_: Context, sub: string) => ({ accountId: sub, claims: () => people.get(sub) ?? { sub } }),
  interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
  jwks: { keys: [await signingKey()] },
  loadExistingGrant: grantEverything,
  pkce: { required: () => true },
  renderError,
  ttl,
})
