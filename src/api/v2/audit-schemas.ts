import type { Schema } from '../../http/route.ts'

const text = (description: string) => ({ type: 'string', description })
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description })
const orNull = (description: string) => ({ type: ['string', 'null'], description })

/** The server API answers this about past events (CONTRACT.md 10.6). */
export const AUDIT_SCHEMAS = {
  AuditEvent: {
    type: 'object',
    required: ['id', 'at', 'type', 'user_id', 'actor', 'address', 'user_agent', 'request_id', 'session_id', 'details'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Sorts in the order of time' },
      at: { type: 'string', format: 'date-time' },
      type: text('One of those of the parameter `type`; further ones may be added'),
      user_id: orNull('Whose account it happened to; null where none is known or concerned'),
      actor: text('`user`, `api:NAME`, `admin:NAME`, `cli` or `system`'),
      address: orNull('The IP address of the client'),
      user_agent: orNull('What the client calls itself, its first 256 characters'),
      request_id: orNull('The request in the log'),
      session_id: orNull('The session that began or ended, or in which it was done'),
      details: { $ref: '#/components/schemas/AuditDetails' },
    },
  },

  AuditDetails: {
    type: 'object',
    description: 'What applies. Further properties may be added',
    properties: {
      method: text('How: `password`, `passkey`, `code`, or the name of a provider'),
      reason: text('Why it failed or ended, or why an operator has done it'),
      limit: text('The limit that refused a login'),
      account: text('A keyed hash of an entered email that no account has'),
      count: { type: 'integer', minimum: 0, description: 'How many failed logins, sessions or users' },
      provider: text('The name of a provider'),
      roles: texts('As they are now'),
      scopes: texts('What an API key may do'),
      ended_session_id: text('The session that ended, if the request used a different one'),
      identity_id: text('The connection to a provider'),
      passkey_id: text('The passkey'),
      api_key_id: text('The API key'),
      api_key_name: text('Its name'),
      key_id: text('The key that signs access tokens'),
      webhook_id: text('The webhook event'),
      message_id: text('The message by mail'),
      administrator: text('The name of an administrator'),
      client_id: text('The client of the OAuth server'),
      client_name: text('Its name'),
      grant_id: text('The access of a client'),
    },
  },

  AuditEventList: {
    type: 'object',
    required: ['events', 'next_cursor'],
    properties: {
      events: { type: 'array', items: { $ref: '#/components/schemas/AuditEvent' } },
      next_cursor: { type: ['string', 'null'], description: 'null at the end' },
    },
  },
} satisfies Record<string, Schema>
