import type { ResponseHeader, Schema } from '../http/route.ts'

/** Makes the schema of an error, with the members that one version has beside those of all. */
export const errorSchema = (example: string, more: Record<string, Schema> = {}) =>
  ({
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        properties: {
          code: { type: 'string', description: `For programs, such as \`${example}\`` },
          message: { type: 'string', description: 'For people; the text may change' },
          ...more,
          request_id: { type: 'string', description: 'The same as the header X-Request-Id' },
        },
      },
    },
  }) satisfies Schema

/**
 * These are the bodies of JSON responses, by name (JSON Schema, draft 2020-12). No schema is closed: a later version
 * may add members, and a client ignores the ones that it does not know (CONTRACT.md 1).
 */
export const SCHEMAS = {
  /** CONTRACT.md 2.1 defines it. */
  User: {
    type: 'object',
    required: ['id', 'email', 'username', 'roles', 'disabled', 'created_at'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Never changes, and is never given to another user' },
      email: { type: 'string', format: 'email', maxLength: 254 },
      username: { type: 'string', pattern: '^[a-z0-9_-]{3,30}$' },
      name: {
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 100,
        description: 'The name of the person; null: none is known. It is left out with `SVC_NAMES=off`',
      },
      roles: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9_:.-]{1,64}$' } },
      disabled: { type: 'boolean' },
      created_at: { type: 'string', format: 'date-time', description: 'UTC, with milliseconds and Z' },
    },
  },

  Error: errorSchema('unauthorized'),

  /** RFC 7517 section 5 defines it. */
  JwkSet: {
    type: 'object',
    required: ['keys'],
    properties: {
      keys: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['kty', 'crv', 'x', 'y', 'kid', 'use', 'alg'],
          properties: {
            kty: { type: 'string', const: 'EC' },
            crv: { type: 'string', const: 'P-256' },
            x: { type: 'string' },
            y: { type: 'string' },
            kid: { type: 'string' },
            use: { type: 'string', const: 'sig' },
            alg: { type: 'string', const: 'ES256' },
          },
        },
      },
    },
  },

  Status: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['ok', 'ready'] } },
  },

  /** WebAuthn Level 3 sections 5.1.9 and 5.1.10 describe the members. */
  PasskeyRequestOptions: {
    type: 'object',
    description: 'PublicKeyCredentialRequestOptionsJSON',
    required: ['challenge', 'rpId', 'timeout', 'userVerification', 'allowCredentials'],
  },

  PasskeyCreationOptions: {
    type: 'object',
    description: 'PublicKeyCredentialCreationOptionsJSON',
    required: ['challenge', 'rp', 'user', 'pubKeyCredParams', 'timeout', 'attestation', 'excludeCredentials'],
  },

  SignedIn: {
    type: 'object',
    required: ['redirect_to'],
    properties: { redirect_to: { type: 'string', description: 'A path of this origin' } },
  },

  AddedPasskey: {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'string', format: 'uuid' }, name: { type: 'string', maxLength: 64 } },
  },

  PasskeyEndpoints: {
    type: 'object',
    required: ['enroll', 'manage'],
    properties: { enroll: { type: 'string', format: 'uri' }, manage: { type: 'string', format: 'uri' } },
  },

  OpenApiDocument: {
    type: 'object',
    required: ['openapi', 'info', 'paths'],
    properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  },
} satisfies Record<string, Schema>

/** Refers to one of the schemas. */
export const refTo = (name: keyof typeof SCHEMAS): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Documents an error response. */
export const failure = (description: string, ...headers: ResponseHeader[]) => ({
  description,
  schema: refTo('Error'),
  headers,
})

export const UNAVAILABLE = failure('`unavailable`: try again later; nobody is logged out by it', 'Retry-After')
