import type { Schema } from '../../http/route.ts'

const TIME = { type: 'string', format: 'date-time', description: 'UTC, with milliseconds and Z' }
const TEXTS = { type: 'array', items: { type: 'string' } }

const CLIENT = {
  id: { type: 'string', description: 'A UUID, or the URL of a metadata document (percent-encoded in a path)' },
  name: { type: 'string' },
  type: { type: 'string', enum: ['web', 'native', 'browser'], description: '`web` has a secret' },
  kind: {
    type: 'string',
    enum: ['operator', 'registered', 'document'],
    description: 'Who made it: an operator or a key, itself, or itself by a metadata document',
  },
  redirect_uris: TEXTS,
  logout_uris: TEXTS,
  backchannel_logout_uri: { type: ['string', 'null'] },
  scopes: { ...TEXTS, type: ['array', 'null'], description: 'null: all but `roles`' },
  resources: { ...TEXTS, description: 'Empty: all' },
  first_party: { type: 'boolean', description: 'Users are not asked for consent' },
  require_mfa: { type: 'boolean' },
  disabled: { type: 'boolean' },
  created_at: TIME,
  last_used_at: { ...TIME, type: ['string', 'null'], description: 'null: never' },
}

const GRANT = {
  id: { type: 'string', format: 'uuid', description: 'The claim `sid` of its tokens' },
  user_id: { type: 'string', format: 'uuid' },
  client_id: { type: 'string' },
  client_name: { type: ['string', 'null'] },
  session_id: { type: ['string', 'null'], format: 'uuid', description: 'It ends with this session; null: by itself' },
  scopes: TEXTS,
  resource: { type: ['string', 'null'], description: 'null: for `userinfo` alone' },
  created_at: TIME,
  last_used_at: TIME,
  expires_at: { ...TIME, description: 'When it ends unless it is used' },
}

const listOf = (name: string, of: string): Schema => ({
  type: 'object',
  required: [name],
  properties: { [name]: { type: 'array', items: { $ref: `#/components/schemas/${of}` } } },
})

/** The server API answers this about clients and their grants (CONTRACT.md 10.7). */
export const CLIENT_SCHEMAS = {
  Client: { type: 'object', required: Object.keys(CLIENT), properties: CLIENT },
  ClientList: listOf('clients', 'Client'),
  CreatedClient: {
    allOf: [
      { $ref: '#/components/schemas/Client' },
      { type: 'object', properties: { secret: { type: 'string', description: 'Of type `web` alone' } } },
    ],
  },
  ClientSecret: {
    type: 'object',
    required: ['secret', 'former_secret_until'],
    properties: { secret: { type: 'string' }, former_secret_until: TIME },
  },
  Grant: { type: 'object', required: Object.keys(GRANT), properties: GRANT },
  GrantList: listOf('grants', 'Grant'),
} satisfies Record<string, Schema>
