import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { ProviderFetch } from '../oauth/providers/provider-fetch.ts'
import { DEV_PROVIDER, ISSUER } from './given.ts'

export const PROVIDER_PATH = '/auth/dev/provider/authorize'

/** What the provider can do wrong. */
export const FAULTS = {
  denied: 'The user says no',
  error: 'The provider answers with an error',
  outage: 'The provider is down when svc asks for the user',
  forged: 'The signature of the ID token is wrong',
  no_email: 'The user has no email there',
} as const

type Fault = keyof typeof FAULTS

interface Grant {
  nonce: string
  challenge: string
  email: string
  isVerified: boolean
  fault: Fault | undefined
}

/** An OpenID Connect provider (Core section 3.1) whose users need no password: a page lets one choose who signs in. */
export interface DevProvider {
  /** The service asks it in place of the network. */
  fetch: ProviderFetch
  /** Throws `invalid_request` unless svc has sent the browser here. */
  requireOwn(request: URLSearchParams): void
  /** Resolves the choice of a page: gives the address that the browser goes back to. */
  choose(request: URLSearchParams): string
}

const LIFETIME_SECONDS = 300
const MOST_CODES = 100

export const createDevProvider = ({ baseUrl, clock }: { baseUrl: string; clock: Clock }): DevProvider => {
  const redirectUri = `${baseUrl}/auth/oauth/${DEV_PROVIDER.name}/callback`
  const keys = createKeys()
  const grants = new Map<string, Grant>()

  const requireOwn = (request: URLSearchParams): void => {
    const expected = { client_id: DEV_PROVIDER.clientId, redirect_uri: redirectUri, response_type: 'code' }
    for (const [name, value] of Object.entries(expected)) {
      if (request.get(name) === value) continue
      throw new AppError('invalid_request', `${name} must be ${value}: begin at ${baseUrl}/auth/login`, { field: name })
    }
  }

  const newCode = (grant: Grant): string => {
    const code = randomToken()
    grants.set(code, grant)
    for (const oldest of grants.keys()) if (grants.size > MOST_CODES) grants.delete(oldest)
    return code
  }

  const idTokenOf = ({ nonce, email, isVerified, fault }: Grant): string => {
    const nowSeconds = Math.floor(clock.now() / 1000)
    return keys.sign({
      iss: ISSUER,
      aud: DEV_PROVIDER.clientId,
      sub: email,
      iat: nowSeconds,
      exp: nowSeconds + LIFETIME_SECONDS,
      auth_time: nowSeconds,
      nonce,
      name: nameOf(email),
      ...(fault !== 'no_email' && { email, email_verified: isVerified }),
    })
  }

  /** Each code is good once (RFC 6749 section 4.1.2), and for the client that has begun (RFC 7636). */
  const exchange = (body: URLSearchParams): Response => {
    const code = body.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    if (grant?.fault === 'outage') return new Response('down', { status: 503 })
    const isOwn = body.get('client_secret') === DEV_PROVIDER.clientSecret
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (!grant || !isOwn || challenge !== grant.challenge)
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const idToken = idTokenOf(grant)
    return Response.json({
      access_token: randomToken(),
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      id_token: grant.fault === 'forged' ? withOtherSignature(idToken) : idToken,
    })
  }

  const answers: Record<string, (body: URLSearchParams) => Response> = {
    '/.well-known/openid-configuration': () => Response.json(metadataOf(baseUrl)),
    '/jwks': () => Response.json({ keys: [keys.publicJwk] }),
    '/token': exchange,
  }

  return {
    async fetch(url, { body }) {
      const sent = body instanceof URLSearchParams ? body : new URLSearchParams()
      return answers[url.slice(ISSUER.length)]?.(sent) ?? new Response('', { status: 404 })
    },

    requireOwn,

    choose(request) {
      requireOwn(request)
      const fault = requireFault(request.get('fail'))
      const back = new URL(redirectUri)
      back.searchParams.set('state', request.get('state') ?? '')
      if (fault === 'denied' || fault === 'error') {
        back.searchParams.set('error', fault === 'denied' ? 'access_denied' : 'server_error')
        return back.href
      }
      const code = newCode({
        nonce: request.get('nonce') ?? '',
        challenge: request.get('code_challenge') ?? '',
        email: requireEmailOf(request),
        isVerified: request.get('verified') !== 'false',
        fault,
      })
      back.searchParams.set('code', code)
      return back.href
    },
  }
}

/** OpenID Connect Discovery section 3. */
const metadataOf = (baseUrl: string): object => ({
  issuer: ISSUER,
  authorization_endpoint: `${baseUrl}${PROVIDER_PATH}`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  code_challenge_methods_supported: ['S256'],
})

const requireFault = (name: string | null): Fault | undefined => {
  if (name === null) return undefined
  if (Object.hasOwn(FAULTS, name)) return name as Fault
  throw new AppError('invalid_request', `fail must be one of ${Object.keys(FAULTS).join(', ')}`, { field: 'fail' })
}

const requireEmailOf = (request: URLSearchParams): string => {
  const email = readEmail(request.get('email') ?? '')
  if (email) return email.lower
  throw new AppError('invalid_request', 'email must be an email address, such as ada@example.com', { field: 'email' })
}

const nameOf = (email: string): string => {
  const [local = ''] = email.split('@')
  return local.charAt(0).toUpperCase() + local.slice(1)
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

const createKeys = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomUUID()
  return {
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
    sign(claims: object): string {
      const message = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`
      const signature = sign('sha256', Buffer.from(message), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${message}.${signature.toString('base64url')}`
    },
  }
}

const withOtherSignature = (token: string): string =>
  `${token.slice(0, token.lastIndexOf('.') + 1)}${Buffer.alloc(64, 1).toString('base64url')}`
