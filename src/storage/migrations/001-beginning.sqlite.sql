CREATE TABLE installation (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  -- as the user entered it, and in the form that is compared
  email TEXT NOT NULL,
  email_lower TEXT NOT NULL UNIQUE,
  username TEXT NOT NULL UNIQUE,
  -- a PHC string; null for a user who signs in only with a provider
  password_hash TEXT,
  -- a JSON array of strings
  roles TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- part of the refresh tokens, which are derived from the root secret and never stored
  salt TEXT NOT NULL,
  -- the number of the refresh token that is valid now
  generation BIGINT NOT NULL,
  -- when the latest earlier tokens were replaced: a JSON array of times, oldest first
  replaced_at TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  -- the end of the session without a refresh, and its end in any case
  expires_at BIGINT NOT NULL,
  absolute_expires_at BIGINT NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE signing_keys (
  id TEXT PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  -- encrypted with a key that is derived from the root secret
  private_jwk_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- when it stopped signing
  retired_at BIGINT
) WITHOUT ROWID;

CREATE TABLE webhook_events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  user_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- the bytes that are signed and sent
  body TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  -- not before this time; after it, an attempt that began and never ended counts as failed
  next_attempt_at BIGINT NOT NULL,
  -- of the last attempt: the status of the response, or the failure
  status BIGINT,
  problem TEXT,
  delivered_at BIGINT,
  -- when it was delivered or given up
  closed_at BIGINT
) WITHOUT ROWID;

CREATE INDEX webhook_events_open ON webhook_events (user_id, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_closed ON webhook_events (closed_at) WHERE closed_at IS NOT NULL
