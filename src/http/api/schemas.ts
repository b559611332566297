import type { Schema } from '../route.ts'

/** Specification section 2.1. */
export const USER: Schema = {
  type: 'object',
  required: ['id', 'email', 'username', 'roles', 'disabled', 'created_at'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', format: 'uuid' },
    email: { type: 'string', format: 'email', maxLength: 254 },
    username: { type: 'string', pattern: '^[a-z0-9_-]{3,30}$' },
    roles: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9_:.-]{1,64}$' } },
    disabled: { type: 'boolean' },
    created_at: { type: 'string', format: 'date-time' },
  },
}

export const ERROR: Schema = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      additionalProperties: false,
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        request_id: { type: 'string', description: 'The same as the header X-Request-Id' },
      },
    },
  },
}

/** RFC 7517 section 5 */
export const JWK_SET: Schema = {
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: {
    keys: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['kty', 'crv', 'x', 'y', 'kid', 'use', 'alg'],
        additionalProperties: false,
        properties: {
          kty: { const: 'EC' },
          crv: { const: 'P-256' },
          x: { type: 'string' },
          y: { type: 'string' },
          kid: { type: 'string' },
          use: { const: 'sig' },
          alg: { const: 'ES256' },
        },
      },
    },
  },
}

export const STATE: Schema = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { type: 'string', enum: ['ok', 'ready'] } },
}
