import type { Value } from './database.ts'

export interface Table {
  name: string
  /** All of them, the primary key first. */
  columns: readonly [string, ...string[]]
  /** Those that hold whole numbers; the others hold text. */
  numbers: readonly string[]
  /** Which rows belong to the installation, and not to one database that holds it; all when left out. */
  only?: string
}

/** A row of any table, by column. */
export type Row = Record<string, Value>

/**
 * What an installation consists of, in an order that foreign keys allow. Of `installation`, what processes agree on among
 * themselves and what migrations write down stays with the database.
 */
export const TABLES: readonly Table[] = [
  {
    name: 'installation',
    columns: ['name', 'value'],
    numbers: [],
    only: `name NOT LIKE 'lease %' AND name NOT LIKE 'lock %' AND name NOT IN ('schema works with', 'copy')`,
  },
  {
    name: 'users',
    columns: [
      'id',
      'email',
      'email_lower',
      'username',
      'password_hash',
      'roles',
      'disabled',
      'created_at',
      'email_verified_at',
    ],
    numbers: ['disabled', 'created_at', 'email_verified_at'],
  },
  {
    name: 'identities',
    columns: ['id', 'user_id', 'provider', 'issuer', 'subject', 'email', 'created_at'],
    numbers: ['created_at'],
  },
  {
    name: 'pending_links',
    columns: ['id', 'user_id', 'browser', 'content', 'expires_at'],
    numbers: ['expires_at'],
  },
  { name: 'used_oauth_states', columns: ['id'], numbers: [] },
  {
    name: 'sessions',
    columns: [
      'id',
      'user_id',
      'salt',
      'generation',
      'replaced_at',
      'created_at',
      'last_seen_at',
      'expires_at',
      'absolute_expires_at',
      'user_agent',
      'address',
      'authenticated_at',
    ],
    numbers: ['generation', 'created_at', 'last_seen_at', 'expires_at', 'absolute_expires_at', 'authenticated_at'],
  },
  {
    name: 'replaced_sessions',
    columns: ['id', 'successor_id', 'salt', 'replaced_at'],
    numbers: ['replaced_at'],
  },
  {
    name: 'signing_keys',
    columns: ['id', 'public_jwk', 'private_jwk_sealed', 'created_at', 'retired_at', 'signs_at', 'revoked_at'],
    numbers: ['created_at', 'retired_at', 'signs_at', 'revoked_at'],
  },
  {
    name: 'webhook_events',
    columns: [
      'id',
      'type',
      'user_id',
      'created_at',
      'body',
      'attempts',
      'next_attempt_at',
      'status',
      'problem',
      'delivered_at',
      'closed_at',
      'attempts_before',
    ],
    numbers: ['created_at', 'attempts', 'next_attempt_at', 'status', 'delivered_at', 'closed_at', 'attempts_before'],
  },
  {
    name: 'webhook_attempts',
    columns: ['id', 'event_id', 'number', 'ended_at', 'duration_ms', 'status', 'problem', 'outcome'],
    numbers: ['number', 'ended_at', 'duration_ms', 'status'],
  },
]
