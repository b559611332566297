import { CSRF_FIELD } from '../csrf.ts'
import type { RouteDeps } from '../deps.ts'
import { json } from '../request-context.ts'
import type { ResponseHeader, Route } from '../route.ts'
import { createRefresh } from './refresh.ts'
import { refTo } from './schemas.ts'

const failure = (description: string, ...headers: ResponseHeader[]) => ({
  description,
  schema: refTo('Error'),
  headers,
})
const unavailable = failure('`unavailable`: try again later; nobody is logged out by it', 'Retry-After')

const CSRF_TOKEN = { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' }

/** The routes that speak JSON. */
export const createApiRoutes = (deps: RouteDeps): Route[] => [
  {
    method: 'GET',
    path: '/auth/api/v1/user',
    guard: 'access_token',
    speaks: 'json',
    frequent: true,
    documentation: {
      operationId: 'getUser',
      summary: 'The authenticated user',
      tag: 'Users',
      responses: {
        200: { description: 'Who is signed in', schema: refTo('User') },
        401: failure('`unauthorized`: the user must log in', 'WWW-Authenticate'),
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
      operationId: 'refreshSession',
      summary: 'Renews the session and sets new session cookies',
      tag: 'Sessions',
      parameters: [
        {
          name: 'audience',
          in: 'query',
          required: true,
          description: 'For whom the access token is meant',
          schema: { type: 'string', pattern: '^[A-Za-z0-9._:/-]{1,128}$' },
        },
        {
          name: CSRF_FIELD,
          in: 'header',
          required: true,
          description: 'The value of the CSRF cookie',
          schema: CSRF_TOKEN,
        },
        {
          name: deps.cookieTable.csrf.name,
          in: 'cookie',
          required: true,
          description: 'The CSRF token; every page under /auth sets it, and scripts can read it',
          schema: CSRF_TOKEN,
        },
      ],
      responses: {
        200: { description: 'Renewed; the body is empty', headers: ['Set-Cookie'] },
        400: failure('`invalid_request`: the audience is missing or not accepted'),
        401: failure(
          '`unauthorized`: the session has ended; its cookies are cleared, unless a login in the same browser has just set newer ones',
          'Set-Cookie',
          'WWW-Authenticate',
        ),
        403: failure('`forbidden`: the CSRF token or the origin is wrong'),
        500: failure('`internal_error`'),
        503: unavailable,
      },
    },
    answer: createRefresh(deps),
  },
  {
    method: 'GET',
    path: '/auth/.well-known/jwks.json',
    guard: 'none',
    speaks: 'json',
    frequent: true,
    documentation: {
      operationId: 'getJwkSet',
      tag: 'Keys',
      summary: 'The public keys that verify access tokens (RFC 7517)',
      responses: { 200: { description: 'A JWK Set', schema: refTo('JwkSet') }, 503: unavailable },
    },
    answer: async () => ({
      ...json(200, JSON.stringify((await deps.keys.reload()).jwks)),
      cacheSeconds: deps.keys.jwksMaxAgeSeconds,
    }),
  },
  {
    method: 'GET',
    path: '/auth/health',
    guard: 'none',
    speaks: 'json',
    frequent: true,
    documentation: {
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      tag: 'Operation',
      responses: { 200: { description: 'It is', schema: refTo('Status') } },
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
      operationId: 'getReadiness',
      summary: 'Whether the service can do its work',
      tag: 'Operation',
      responses: {
        200: { description: 'It can', schema: refTo('Status') },
        503: failure('`unavailable`, and what is down', 'Retry-After'),
      },
    },
    async answer() {
      await deps.requireReady()
      return json(200, '{"status":"ready"}')
    },
  },
]
