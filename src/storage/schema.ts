import type { Value } from './database.ts'

export interface Table {
  name: string
  /** All columns, the primary key first. */
  columns: readonly [string, ...string[]]
  /** The columns that hold whole numbers; the others hold text. */
  integerColumns: readonly string[]
  /** A condition for the rows that are copied with the installation; all rows when left out. */
  rowFilter?: string
}

/** A row of any table, by column. */
export type Row = Record<string, Value>

/**
 * The tables of an installation, in an order that foreign keys allow. Rows of `installation` that belong to one
 * database are not copied with it: leases and locks of processes, and what migrations and a copy record there.
 */
export const TABLES: readonly Table[] = [
  {
    name: 'installation',
    columns: ['name', 'value'],
    integerColumns: [],
    rowFilter: `name NOT LIKE 'lease %' AND name NOT LIKE 'lock %' AND name NOT IN ('schema works with', 'copy')`,
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
      'self_made',
      'invited_at',
      'position',
      'updated_at',
      'user_handle',
      'sign_in_generation',
    ],
    integerColumns: [
      'disabled',
      'created_at',
      'email_verified_at',
      'self_made',
      'invited_at',
      'position',
      'updated_at',
      'sign_in_generation',
    ],
  },
  {
    name: 'identities',
    columns: ['id', 'user_id', 'provider', 'issuer', 'subject', 'email', 'created_at'],
    integerColumns: ['created_at'],
  },
  {
    name: 'pending_links',
    columns: ['id', 'user_id', 'browser', 'content', 'expires_at'],
    integerColumns: ['expires_at'],
  },
  { name: 'used_oauth_states', columns: ['id'], integerColumns: [] },
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
      'device_hash',
      'amr',
      'provider',
    ],
    integerColumns: [
      'generation',
      'created_at',
      'last_seen_at',
      'expires_at',
      'absolute_expires_at',
      'authenticated_at',
    ],
  },
  {
    name: 'replaced_sessions',
    columns: ['id', 'successor_id', 'salt', 'replaced_at'],
    integerColumns: ['replaced_at'],
  },
  {
    name: 'signing_keys',
    columns: ['id', 'public_jwk', 'private_jwk_sealed', 'created_at', 'retired_at', 'signs_at', 'revoked_at'],
    integerColumns: ['created_at', 'retired_at', 'signs_at', 'revoked_at'],
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
    integerColumns: [
      'created_at',
      'attempts',
      'next_attempt_at',
      'status',
      'delivered_at',
      'closed_at',
      'attempts_before',
    ],
  },
  {
    name: 'webhook_attempts',
    columns: ['id', 'event_id', 'number', 'ended_at', 'duration_ms', 'status', 'problem', 'outcome'],
    integerColumns: ['number', 'ended_at', 'duration_ms', 'status'],
  },
  {
    name: 'links',
    columns: [
      'id',
      'token_hash',
      'purpose',
      'user_id',
      'email_lower',
      'details',
      'created_at',
      'expires_at',
      'ended_at',
      'ended_by',
    ],
    integerColumns: ['created_at', 'expires_at', 'ended_at'],
  },
  { name: 'reserved_emails', columns: ['email_lower', 'user_id', 'until'], integerColumns: ['until'] },
  {
    name: 'pending_signups',
    columns: ['id', 'link_id', 'email', 'email_lower', 'username', 'password_hash', 'created_at'],
    integerColumns: ['created_at'],
  },
  {
    name: 'mail_messages',
    columns: [
      'id',
      'purpose',
      'user_id',
      'recipient',
      'content_sealed',
      'link_id',
      'state',
      'created_at',
      'expires_at',
      'attempts',
      'next_attempt_at',
      'problem',
      'closed_at',
    ],
    integerColumns: ['created_at', 'expires_at', 'attempts', 'next_attempt_at', 'closed_at'],
  },
  {
    name: 'known_browsers',
    columns: ['id', 'user_id', 'device_hash', 'created_at', 'seen_at', 'trusted_until'],
    integerColumns: ['created_at', 'seen_at', 'trusted_until'],
  },
  {
    name: 'counters',
    columns: ['id', 'count', 'ends_at', 'of_network'],
    integerColumns: ['count', 'ends_at', 'of_network'],
  },
  {
    name: 'api_keys',
    columns: ['id', 'name', 'key_hash', 'scopes', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'],
    integerColumns: ['created_at', 'expires_at', 'revoked_at', 'last_used_at'],
  },
  {
    name: 'idempotent_requests',
    columns: [
      'id',
      'api_key_id',
      'request_hash',
      'claimed_until',
      'status',
      'answer_sealed',
      'created_at',
      'expires_at',
    ],
    integerColumns: ['claimed_until', 'status', 'created_at', 'expires_at'],
  },
  {
    name: 'passkeys',
    columns: [
      'id',
      'user_id',
      'credential_id',
      'public_key',
      'name',
      'aaguid',
      'transports',
      'sign_count',
      'backup_eligible',
      'backed_up',
      'created_at',
      'last_used_at',
    ],
    integerColumns: ['sign_count', 'backup_eligible', 'backed_up', 'created_at', 'last_used_at'],
  },
  {
    name: 'one_time_codes',
    columns: [
      'user_id',
      'secret_sealed',
      'created_at',
      'last_used_step',
      'wrong_in_a_row',
      'wrong_on_links',
      'wrong_anywhere',
    ],
    integerColumns: ['created_at', 'last_used_step', 'wrong_in_a_row', 'wrong_on_links', 'wrong_anywhere'],
  },
  { name: 'recovery_codes', columns: ['id', 'user_id', 'hash', 'created_at'], integerColumns: ['created_at'] },
  { name: 'used_tokens', columns: ['id', 'expires_at'], integerColumns: ['expires_at'] },
  {
    name: 'audit_events',
    columns: [
      'id',
      'at',
      'type',
      'user_id',
      'actor',
      'address',
      'user_agent',
      'request_id',
      'session_id',
      'details',
      'count',
      'tally',
    ],
    integerColumns: ['at', 'count'],
  },
]
