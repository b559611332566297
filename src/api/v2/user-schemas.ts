import type { Schema } from '../../http/route.ts'
import { SCHEMAS } from '../schemas.ts'

const TIME = { type: 'string', format: 'date-time', description: 'UTC, with milliseconds and Z' }

const { required, properties } = SCHEMAS.User

/** What the server API answers about users (CONTRACT.md 10.5). */
export const USER_SCHEMAS = {
  User: {
    type: 'object',
    required: [
      ...required,
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
