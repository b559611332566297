import type { RouteParts } from '../parts.ts'
import type { Route } from '../route.ts'
import { json } from '../visit.ts'
import { createRefresh } from './refresh.ts'
import { ERROR, JWK_SET, STATE, USER } from './schemas.ts'

const failure = (description: string) => ({ description, schema: ERROR })
const unavailable = failure('`unavailable`: try again later; nobody is logged out by it')

/** The routes that speak JSON. */
export const createApiRoutes = (parts: RouteParts): Route[] => [
  {
    method: 'GET',
    path: '/auth/api/v1/user',
    guard: 'access_token',
    speaks: 'json',
    frequent: true,
    documentation: {
      summary: 'The authenticated user',
      responses: {
        200: { description: 'Who is signed in', schema: USER },
        401: failure('`unauthorized`: the user must log in'),
        503: unavailable,
      },
    },
    answer: (_visit, signedIn) => json(200, signedIn.userJson),
  },
  {
    method: 'POST',
    path: '/auth/api/v1/sessions/refresh',
    guard: 'refresh_token',
    csrf: 'token',
    speaks: 'json',
    documentation: {
      summary: 'Renews the session and sets its cookies anew',
      parameters: [
        {
          name: 'audience',
          in: 'query',
          required: true,
          description: 'For whom the access token is meant',
          schema: { type: 'string', pattern: '^[A-Za-z0-9._:/-]{1,128}$' },
        },
      ],
      responses: {
        200: { description: 'Renewed; the body is empty' },
        400: failure('`invalid_request`: the audience is missing or not accepted'),
        401: failure('`unauthorized`: the session has ended; its cookies are cleared'),
        403: failure('`forbidden`: the CSRF token or the origin is wrong'),
        500: failure('`internal_error`'),
        503: unavailable,
      },
    },
    answer: createRefresh(parts),
  },
  {
    method: 'GET',
    path: '/auth/.well-known/jwks.json',
    guard: 'none',
    speaks: 'json',
    frequent: true,
    documentation: {
      summary: 'The public keys that verify access tokens (RFC 7517)',
      responses: { 200: { description: 'A JWK Set', schema: JWK_SET }, 503: unavailable },
    },
    answer: async () => ({ ...json(200, JSON.stringify((await parts.keys.reload()).jwks)), cacheSeconds: 60 }),
  },
  {
    method: 'GET',
    path: '/auth/health',
    guard: 'none',
    speaks: 'json',
    frequent: true,
    documentation: {
      summary: 'Whether the process is up',
      responses: { 200: { description: 'It is', schema: STATE } },
    },
    answer: () => json(200, '{"status":"ok"}'),
  },
  {
    method: 'GET',
    path: '/auth/ready',
    guard: 'none',
    speaks: 'json',
    frequent: true,
    documentation: {
      summary: 'Whether the service can do its work',
      responses: { 200: { description: 'It can', schema: STATE }, 503: failure('`unavailable`, and what is down') },
    },
    async answer() {
      await parts.requireReady()
      return json(200, '{"status":"ready"}')
    },
  },
]
