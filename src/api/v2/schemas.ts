import type { Schema } from '../../http/route.ts'
import { AUDIT_SCHEMAS } from './audit-schemas.ts'
import { USER_SCHEMAS } from './user-schemas.ts'

/** The bodies of the responses of the server API, by name, like those of `api/schemas.ts`. */
export const SCHEMAS_V2 = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        properties: {
          code: { type: 'string', description: 'For programs, such as `conflict`' },
          message: { type: 'string', description: 'For people; the text may change' },
          field: { type: 'string', description: 'What the error is about; always there for 409 and 422' },
          request_id: { type: 'string', description: 'The same as the header X-Request-Id' },
        },
      },
    },
  },

  Session: {
    type: 'object',
    required: ['id', 'user_id', 'created_at', 'last_seen_at', 'expires_at', 'user_agent', 'address'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'The claim `sid` of its access tokens' },
      user_id: { type: 'string', format: 'uuid' },
      created_at: { type: 'string', format: 'date-time' },
      last_seen_at: { type: 'string', format: 'date-time', description: 'When it was last renewed' },
      expires_at: { type: 'string', format: 'date-time', description: 'When it ends unless it is renewed' },
      user_agent: { type: 'string' },
      address: { type: 'string', description: 'The IP address of the client' },
    },
  },

  SessionList: {
    type: 'object',
    required: ['sessions'],
    properties: { sessions: { type: 'array', items: { $ref: '#/components/schemas/Session' } } },
  },

  ...USER_SCHEMAS,

  ...AUDIT_SCHEMAS,

  OpenApiDocument: {
    type: 'object',
    required: ['openapi', 'info', 'paths'],
    properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  },
} satisfies Record<string, Schema>

/** A reference to one of the schemas. */
export const refToV2 = (name: keyof typeof SCHEMAS_V2): Schema => ({ $ref: `#/components/schemas/${name}` })
