-- Text is compared byte by byte, as in SQLite: the order of a language changes with the version of the operating system,
-- and indexes break with it. Constraints have the names of their columns, so that errors name the column.

CREATE TABLE installation (
  name TEXT COLLATE "C" CONSTRAINT "installation.name" PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE users (
  id TEXT COLLATE "C" CONSTRAINT "users.id" PRIMARY KEY,
  -- as the user entered it, and in the form that is compared
  email TEXT NOT NULL,
  email_lower TEXT COLLATE "C" NOT NULL CONSTRAINT "users.email_lower" UNIQUE,
  username TEXT COLLATE "C" NOT NULL CONSTRAINT "users.username" UNIQUE,
  -- a PHC string; null for a user who signs in only with a provider
  password_hash TEXT,
  -- a JSON array of strings
  roles TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE sessions (
  id TEXT COLLATE "C" CONSTRAINT "sessions.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
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
-- a refresh writes a new version of the row: with free space in its page, no index changes
) WITH (fillfactor = 70);

CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE signing_keys (
  id TEXT COLLATE "C" CONSTRAINT "signing_keys.id" PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  -- encrypted with a key that is derived from the root secret
  private_jwk_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- when it stopped signing
  retired_at BIGINT
);

CREATE TABLE webhook_events (
  id TEXT COLLATE "C" CONSTRAINT "webhook_events.id" PRIMARY KEY,
  type TEXT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
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
);

CREATE INDEX webhook_events_open ON webhook_events (user_id, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_closed ON webhook_events (closed_at) WHERE closed_at IS NOT NULL
