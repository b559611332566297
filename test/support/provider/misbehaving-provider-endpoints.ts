import { createHash, randomUUID } from 'node:crypto'
import type { Answer } from './misbehaving-provider-answers.ts'
import { type Asked, type Grant, type Situation, createAuthorize } from './misbehaving-provider-authorize.ts'
import {
  type Claims,
  claimsWith,
  discoveryWith,
  tokenRefusal,
  tokensWith,
  userinfoWith,
} from './misbehaving-provider-faults.ts'
import type { Endpoint } from './misbehaving-provider-profiles.ts'
import { idTokenOf, publishedKey } from './misbehaving-provider-tokens.ts'

const json = (value: unknown, status = 200): Answer => ({ status, body: JSON.stringify(value) })
const SCOPED: Record<string, string> = {
  email: 'email',
  email_verified: 'email',
  name: 'profile',
  preferred_username: 'profile',
}

/** The claims of the requested scopes; claims of no scope are always sent, and the name also without OpenID. */
const inScope = (claims: Claims, scopes: string[]): Claims => {
  const isAsked = (name: string) => {
    const scope = SCOPED[name]
    return scope === undefined || scopes.includes(scope) || (scope === 'profile' && !scopes.includes('openid'))
  }
  return Object.fromEntries(Object.entries(claims).filter(([name]) => isAsked(name)))
}

const isProven = ({ asked }: Grant, verifier: string | null): boolean => {
  const challenge = asked.get('code_challenge')
  if (challenge === null) return true
  const isS256 = asked.get('code_challenge_method') === 'S256'
  return (
    isS256 &&
    createHash('sha256')
      .update(verifier ?? '')
      .digest('base64url') === challenge
  )
}

const createToken = (situation: Situation, codes: Map<string, Grant>, tokens: Map<string, Grant>) => {
  const { origin, clientId, clientSecret, profile, isClient, fault, key } = situation

  const redeem = (form: URLSearchParams): Grant | undefined => {
    const grant = codes.get(form.get('code') ?? '')
    // Accepts every code of any client, any number of times.
    if (fault().token === 'lenient') return grant
    codes.delete(form.get('code') ?? '')
    const isSame = grant?.redirectUri === form.get('redirect_uri')
    return grant && isSame && isProven(grant, form.get('code_verifier')) ? grant : undefined
  }
  const idToken = async ({ person, asked, scopes }: Grant): Promise<string | undefined> => {
    const told = profile.idToken(inScope(claimsWith(person, fault()), scopes), origin)
    if (!told || (!scopes.includes('openid') && !profile.answersByForm)) return undefined
    const claims = { ...told, aud: clientId, nonce: asked.get('nonce') ?? undefined, ...fault().told?.idToken }
    return idTokenOf(claims, { fault: fault().idToken, key: key(), clientSecret })
  }
  return async ({ form, headers }: Asked): Promise<Answer> => {
    if (!(await isClient(form, headers))) return json({ error: 'invalid_client' }, 401)
    const grant = redeem(form)
    const refusal = tokenRefusal(fault(), form) ?? (grant ? undefined : { error: 'invalid_grant' })
    if (refusal || !grant) return json(refusal, refusal?.error === 'invalid_client' ? 401 : 400)
    const token = randomUUID()
    tokens.set(token, grant)
    const scope = grant.scopes.join(' ')
    const answer = { access_token: token, token_type: 'Bearer', expires_in: 3600, scope }
    return json(tokensWith({ ...answer, id_token: await idToken(grant) }, fault()))
  }
}

/** The responses of a provider, with the faults that concern their content. */
export const createEndpoints = (situation: Situation): Record<Endpoint, (asked: Asked) => Answer | Promise<Answer>> => {
  const { origin, profile, fault, key } = situation
  const [codes, tokens] = [new Map<string, Grant>(), new Map<string, Grant>()]
  return {
    discovery: ({ tenant }) => {
      const document = {
        issuer: profile.issuer(origin, tenant),
        ...COMMON_METADATA,
        ...profile.addresses(origin, tenant),
      }
      return json(discoveryWith(document, fault()))
    },
    authorize: createAuthorize(situation, codes),
    token: createToken(situation, codes, tokens),
    jwks: () => json({ keys: fault().jwks === 'no-keys' ? [] : [publishedKey(key())] }),
    userinfo: ({ headers }) => {
      const grant = tokens.get(/^bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
      if (!grant) return { ...json({ error: 'invalid_token' }, 401), headers: { 'www-authenticate': 'Bearer' } }
      const claims = inScope(claimsWith(grant.person, fault()), grant.scopes)
      return json(userinfoWith(profile.userinfo(claims), fault()))
    },
  }
}

const COMMON_METADATA = {
  response_types_supported: ['code'],
  response_modes_supported: ['query', 'form_post'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  code_challenge_methods_supported: ['S256'],
}
