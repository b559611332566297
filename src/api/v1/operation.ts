import type { Services } from '../../http/services.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure, refTo, UNAVAILABLE } from '../schemas.ts'

/** Answers `GET /auth/health`. */
export const getHealth = {
  documentation: {
    operationId: 'getHealth',
    summary: 'Whether the process is up',
    tag: 'Operation',
    responses: { 200: { description: 'The process is up', schema: refTo('Status') } },
  } satisfies Documentation,

  handle: (): HttpResponse => json(200, '{"status":"ok"}'),
}

/** Answers `GET /auth/ready`; throws `unavailable` while the database is away or the service stops. */
export const createGetReadiness = ({ requireReady }: Pick<Services, 'requireReady'>) => ({
  documentation: {
    operationId: 'getReadiness',
    summary: 'Whether the service can do its work',
    tag: 'Operation',
    responses: {
      200: { description: 'The service is ready', schema: refTo('Status') },
      503: failure('`unavailable`, and what is down', 'Retry-After'),
    },
  } satisfies Documentation,

  async handle(): Promise<HttpResponse> {
    await requireReady()
    return json(200, '{"status":"ready"}')
  },
})

/** Answers `GET /auth/.well-known/jwks.json`. */
export const createGetJwkSet = ({ signingKeys }: Pick<Services, 'signingKeys'>) => ({
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
