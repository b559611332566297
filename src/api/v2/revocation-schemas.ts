import type { Schema } from '../../http/route.ts'
import { REASONS } from '../../revocations/revocation.ts'

const id = (description: string) => ({ type: 'string', format: 'uuid', description })

/** The server API answers this about what has ended (CONTRACT.md 10.8). */
export const REVOCATION_SCHEMAS = {
  Revocation: {
    type: 'object',
    required: ['seq', 'at', 'type', 'user_id', 'expires_at'],
    properties: {
      seq: { type: 'integer', minimum: 1, description: 'Greater than that of every entry that was read before' },
      at: { type: 'string', format: 'date-time' },
      type: { type: 'string', description: '`session-revoked`, `sessions-revoked` or `token-claims-change`' },
      user_id: { ...id('null: the sessions and grants of all users'), type: ['string', 'null'] },
      session_ids: {
        type: 'array',
        minItems: 1,
        maxItems: 200,
        items: { type: 'string', format: 'uuid' },
        description: 'The claims `sid` of tokens that are good no longer',
      },
      replaced_by: id('The session of the same user and browser that goes on in its place'),
      reason: { type: 'string', description: REASONS.map((reason) => `\`${reason}\``).join(', ') },
      not_before: {
        type: 'integer',
        description: 'Seconds since 1970: tokens with an `iat` up to this are looked at again, once each',
      },
      expires_at: { type: 'string', format: 'date-time', description: 'No token that it is about is good then' },
    },
  },

  RevocationList: {
    type: 'object',
    required: ['events', 'next_cursor', 'more', 'complete'],
    properties: {
      events: { type: 'array', maxItems: 1000, items: { $ref: '#/components/schemas/Revocation' } },
      next_cursor: { type: ['string', 'null'], description: 'null if the list is not complete' },
      more: { type: 'boolean', description: 'There are further entries: ask again at once' },
      complete: {
        type: 'boolean',
        description:
          'false: entries after the cursor are gone, or it is of another state of the database. Start again without one',
      },
    },
  },

  RevocationStream: {
    type: 'string',
    description:
      'Server-sent events: `data` is a `Revocation` as JSON, and `id` the cursor after it. A comment every two seconds says that all up to now was sent; where none comes, nothing is known. The event `incomplete` is `complete: false` of a list, and the last one',
  },
} satisfies Record<string, Schema>
