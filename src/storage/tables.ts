/** This is the type of a column; a `?` says that it may be null. */
export type ColumnType = 'text' | 'text?' | 'integer' | 'integer?'

/**
 * The object has every table with its columns, the primary key first, in an order of tables that foreign keys allow.
 * The rows of the stores, the check of the schema and the copy between two databases follow from it. Migrations make
 * the tables.
 */
export const TABLE_COLUMNS = {
  installation: { name: 'text', value: 'text' },
  users: {
    id: 'text',
    email: 'text',
    email_lower: 'text',
    username: 'text',
    name: 'text?',
    name_lower: 'text?',
    password_hash: 'text?',
    roles: 'text',
    disabled: 'integer',
    created_at: 'integer',
    email_verified_at: 'integer?',
    self_made: 'integer',
    invited_at: 'integer?',
    position: 'integer?',
    updated_at: 'integer',
    user_handle: 'text?',
    sign_in_generation: 'integer',
  },
  identities: {
    id: 'text',
    user_id: 'text',
    provider: 'text',
    issuer: 'text',
    subject: 'text',
    email: 'text?',
    created_at: 'integer',
  },
  pending_links: { id: 'text', user_id: 'text', browser: 'text', content: 'text', expires_at: 'integer' },
  used_oauth_states: { id: 'text' },
  sessions: {
    id: 'text',
    user_id: 'text',
    salt: 'text',
    generation: 'integer',
    replaced_at: 'text',
    created_at: 'integer',
    last_seen_at: 'integer',
    expires_at: 'integer',
    absolute_expires_at: 'integer',
    user_agent: 'text',
    address: 'text',
    authenticated_at: 'integer?',
    device_hash: 'text',
    amr: 'text?',
    provider: 'text?',
  },
  replaced_sessions: { id: 'text', successor_id: 'text', salt: 'text', replaced_at: 'integer' },
  signing_keys: {
    id: 'text',
    public_jwk: 'text',
    private_jwk_sealed: 'text',
    created_at: 'integer',
    retired_at: 'integer?',
    signs_at: 'integer?',
    revoked_at: 'integer?',
  },
  webhook_events: {
    id: 'text',
    type: 'text',
    user_id: 'text',
    created_at: 'integer',
    body: 'text',
    attempts: 'integer',
    next_attempt_at: 'integer',
    status: 'integer?',
    problem: 'text?',
    delivered_at: 'integer?',
    closed_at: 'integer?',
    attempts_before: 'integer',
  },
  webhook_attempts: {
    id: 'text',
    event_id: 'text',
    number: 'integer',
    ended_at: 'integer?',
    duration_ms: 'integer?',
    status: 'integer?',
    problem: 'text?',
    outcome: 'text',
  },
  links: {
    id: 'text',
    token_hash: 'text',
    purpose: 'text',
    user_id: 'text?',
    email_lower: 'text',
    details: 'text',
    created_at: 'integer',
    expires_at: 'integer',
    ended_at: 'integer?',
    ended_by: 'text?',
  },
  reserved_emails: { email_lower: 'text', user_id: 'text', until: 'integer' },
  pending_signups: {
    id: 'text',
    link_id: 'text',
    email: 'text',
    email_lower: 'text',
    username: 'text?',
    name: 'text?',
    password_hash: 'text',
    created_at: 'integer',
  },
  mail_messages: {
    id: 'text',
    purpose: 'text',
    user_id: 'text?',
    recipient: 'text?',
    content_sealed: 'text?',
    link_id: 'text?',
    state: 'text',
    created_at: 'integer',
    expires_at: 'integer',
    attempts: 'integer',
    next_attempt_at: 'integer',
    problem: 'text?',
    closed_at: 'integer?',
  },
  known_browsers: {
    id: 'text',
    user_id: 'text',
    device_hash: 'text',
    created_at: 'integer',
    seen_at: 'integer',
    trusted_until: 'integer?',
  },
  counters: { id: 'text', count: 'integer', ends_at: 'integer', of_network: 'integer' },
  api_keys: {
    id: 'text',
    name: 'text',
    key_hash: 'text',
    scopes: 'text',
    created_at: 'integer',
    expires_at: 'integer?',
    revoked_at: 'integer?',
    last_used_at: 'integer?',
  },
  idempotent_requests: {
    id: 'text',
    api_key_id: 'text',
    request_hash: 'text',
    claimed_until: 'integer',
    status: 'integer?',
    answer_sealed: 'text?',
    created_at: 'integer',
    expires_at: 'integer',
  },
  passkeys: {
    id: 'text',
    user_id: 'text',
    credential_id: 'text',
    public_key: 'text',
    name: 'text',
    aaguid: 'text',
    transports: 'text',
    sign_count: 'integer',
    backup_eligible: 'integer',
    backed_up: 'integer',
    created_at: 'integer',
    last_used_at: 'integer?',
  },
  one_time_codes: {
    user_id: 'text',
    secret_sealed: 'text',
    created_at: 'integer',
    last_used_step: 'integer',
    wrong_in_a_row: 'integer',
    wrong_on_links: 'integer',
    wrong_anywhere: 'integer',
  },
  recovery_codes: { id: 'text', user_id: 'text', hash: 'text', created_at: 'integer' },
  used_tokens: { id: 'text', expires_at: 'integer' },
  audit_events: {
    id: 'text',
    at: 'integer',
    type: 'text',
    user_id: 'text?',
    actor: 'text',
    address: 'text?',
    user_agent: 'text?',
    request_id: 'text?',
    session_id: 'text?',
    details: 'text',
    count: 'integer',
    tally: 'text?',
  },
} as const satisfies Record<string, Record<string, ColumnType>>

/** Code that treats all tables alike uses this. */
export interface Table {
  name: string
  /** These are all columns, the primary key first. */
  columns: readonly [string, ...string[]]
  /** These columns hold whole numbers; the others hold text. */
  integerColumns: readonly string[]
  /** These columns may be null. */
  optionalColumns: readonly string[]
}

const toTable = ([name, columns]: [string, Record<string, ColumnType>]): Table => {
  const columnsWith = (mark: string) => Object.keys(columns).filter((column) => columns[column]?.includes(mark))
  return {
    name,
    columns: Object.keys(columns) as [string, ...string[]],
    integerColumns: columnsWith('integer'),
    optionalColumns: columnsWith('?'),
  }
}

export const TABLES: readonly Table[] = Object.entries(TABLE_COLUMNS).map(toTable)
