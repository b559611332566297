import type { RouteDeps } from '../../http/deps.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { refTo, UNAVAILABLE } from '../schemas.ts'

/** `GET /auth/.well-known/jwks.json` */
export const createGetJwkSet = ({ signingKeys }: RouteDeps) => ({
  documentation: {
    operationId: 'getJwkSet',
    tag: 'Keys',
    summary: 'The public keys that verify access tokens (RFC 7517)',
    responses: { 200: { description: 'A JWK Set', schema: refTo('JwkSet') }, 503: UNAVAILABLE },
  } satisfies Documentation,

  async handle(): Promise<HttpResponse> {
    const { jwks } = await signingKeys.reload()
    return { ...json(200, JSON.stringify(jwks)), cacheSeconds: signingKeys.jwksMaxAgeSeconds }
  },
})
