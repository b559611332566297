import type { Schema } from '../../http/route.ts'
import { AUDIT_SCHEMAS } from './audit-schemas.ts'
import { errorSchema, SCHEMAS } from '../schemas.ts'
import { REVOCATION_SCHEMAS } from './revocation-schemas.ts'
import { CLIENT_SCHEMAS } from './client-schemas.ts'

const TIME = { type: 'string', format: 'date-time', description: 'UTC, with milliseconds and Z' }

const { required, properties } = SCHEMAS.User

/** The server API answers this about users (CONTRACT.md 10.5). */
const USER_SCHEMAS = {
  User: {
    type: 'object',
    required: [
      ...required,
      'language',
      'email_verified',
      'updated_at',
      'last_seen_at',
      'has_password',
      'identities',
      'second_factors',
      'passkeys',
    ],
    properties: {
      ...properties,
      language: {
        type: ['string', 'null'],
        maxLength: 35,
        description: 'The language of their messages (BCP 47), such as `pt-BR`; null: not known yet',
      },
      email_verified: { type: 'boolean' },
      updated_at: { ...TIME, description: 'When anything here but `last_seen_at` changed last' },
      last_seen_at: { ...TIME, type: ['string', 'null'], description: 'null: never' },
      has_password: { type: 'boolean' },
      identities: { type: 'array', items: { $ref: '#/components/schemas/Identity' } },
      second_factors: {
        type: 'array',
        items: { type: 'string' },
        description: '`totp`: one-time codes of an authenticator app',
      },
      passkeys: { type: 'integer', minimum: 0, description: 'How many the user has' },
    },
  },

  Identity: {
    type: 'object',
    required: ['provider', 'issuer', 'subject', 'email'],
    properties: {
      provider: { type: 'string', description: 'Its name in the settings' },
      issuer: { type: 'string' },
      subject: { type: 'string', description: 'Identifies the user at the issuer' },
      email: { type: ['string', 'null'], description: 'That of the user there when they were connected' },
    },
  },

  CreatedUser: {
    allOf: [
      { $ref: '#/components/schemas/User' },
      { type: 'object', properties: { invite_url: { type: 'string', format: 'uri' } } },
    ],
  },

  UserList: {
    type: 'object',
    required: ['users', 'next_cursor'],
    properties: {
      users: { type: 'array', items: { $ref: '#/components/schemas/User' } },
      next_cursor: { type: ['string', 'null'], description: 'null at the end' },
    },
  },

  Link: {
    type: 'object',
    required: ['url', 'expires_at'],
    properties: { url: { type: 'string', format: 'uri' }, expires_at: TIME },
  },
} satisfies Record<string, Schema>

/** These are the bodies of the responses of the server API, by name, in the form of `api/schemas.ts`. */
export const SCHEMAS_V2 = {
  Error: errorSchema('conflict', {
    field: { type: 'string', description: 'What the error is about; always there for 409 and 422' },
  }),

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

  ...CLIENT_SCHEMAS,

  ...REVOCATION_SCHEMAS,

  OpenApiDocument: {
    type: 'object',
    required: ['openapi', 'info', 'paths'],
    properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  },
} satisfies Record<string, Schema>

/** Refers to one of the schemas. */
export const refToV2 = (name: keyof typeof SCHEMAS_V2): Schema => ({ $ref: `#/components/schemas/${name}` })
