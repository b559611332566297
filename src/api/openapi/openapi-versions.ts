import { SCHEMAS } from '../schemas.ts'
import { SCHEMAS_V2 } from '../v2/schemas.ts'
import type { CookieTable } from '../../http/cookies.ts'
import type { ResponseHeader, Route, Schema } from '../../http/route.ts'

interface Header {
  description: string
  schema: Schema
}

/** The document of one version of the API has this beside its routes. */
export interface ApiDescription {
  description: string
  /** This tells whether a route is one of this version. */
  has: (route: Route) => boolean
  tags: Record<string, string>
  schemas: Record<string, Schema>
  headers: Partial<Record<ResponseHeader | 'X-Request-Id', Header>>
  securitySchemes: (cookieTable: CookieTable) => Record<string, Schema>
}

const SHARED_HEADERS = {
  'X-Request-Id': { description: 'Identifies the request in the log of the service', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds until a retry makes sense', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'RFC 9110 section 11.6.1', schema: { type: 'string' } },
}

const SERVER_API = '/auth/api/v2/'

export const API_VERSIONS = {
  v1: {
    description: 'The signed-in user, and the renewal of the session.',
    has: ({ path }) => !path.startsWith(SERVER_API),
    tags: {
      Users: 'The signed-in user',
      Sessions: 'Renewal of the session',
      Passkeys: 'For the scripts of the pages of svc',
      Keys: 'Public keys for access tokens',
      Operation: 'For operators',
    },
    schemas: SCHEMAS,
    headers: {
      ...SHARED_HEADERS,
      'Set-Cookie': {
        description:
          'One header for each session cookie (access, refresh and CSRF token): new cookies after a renewal, expired ' +
          'ones after the end of the session',
        schema: { type: 'string' },
      },
      'X-Svc-User-Sid': {
        description: 'The session, as the claim `sid`; the server API finds and ends it by this id',
        schema: { type: 'string', format: 'uuid' },
      },
      'X-Svc-User-Email-Verified': {
        description: "Whether it was ever proved that the email is the user's, as the claim `email_verified`",
        schema: { type: 'string', enum: ['true', 'false'] },
      },
      'X-Svc-User-Amr': {
        description: 'What the user proved last (RFC 8176), joined by commas; `-` where it is not known',
        schema: { type: 'string' },
      },
      'X-Svc-User-Auth-Time': {
        description: 'When they proved it, in seconds since 1970; `-` where it is not known',
        schema: { type: 'string' },
      },
    },
    securitySchemes: ({ access, refresh }) => ({
      access: { type: 'apiKey', in: 'cookie', name: access.name },
      refresh: { type: 'apiKey', in: 'cookie', name: refresh.name },
    }),
  },

  v2: {
    description: 'The server API: users and their sessions, for the backend of the application.',
    has: ({ path }) => path.startsWith(SERVER_API),
    tags: {
      Users: 'All users',
      Sessions: 'The sessions of all users',
      Clients: 'Clients of the OAuth server, and their access to accounts, with `SVC_CLIENTS=on`',
      Audit: 'What happened',
      Operation: 'For developers',
    },
    schemas: SCHEMAS_V2,
    headers: {
      ...SHARED_HEADERS,
      'Idempotency-Replayed': {
        description: 'There when the response to an earlier request with the same Idempotency-Key is repeated',
        schema: { type: 'string', enum: ['true'] },
      },
    },
    securitySchemes: () => ({
      api_key: { type: 'http', scheme: 'bearer', description: 'A key that `svc api-keys create` has made' },
    }),
  },
} satisfies Record<string, ApiDescription>
