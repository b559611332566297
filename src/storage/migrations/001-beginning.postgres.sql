-- Text is compared byte by byte, as SQLite does: the order of a language changes with the operating system's version,
-- and indexes break with it. Constraints carry the names of what they make unique, which is how errors name it.

CREATE TABLE installation (
  name TEXT COLLATE "C" CONSTRAINT "installation.name" PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE users (
  id TEXT COLLATE "C" CONSTRAINT "users.id" PRIMARY KEY,
  -- as it was entered, and as it is compared
  email TEXT NOT NULL,
  email_lower TEXT COLLATE "C" NOT NULL CONSTRAINT "users.email_lower" UNIQUE,
  username TEXT COLLATE "C" NOT NULL CONSTRAINT "users.username" UNIQUE,
  -- a PHC string; none for who only signs in by a provider
  password_hash TEXT,
  -- a JSON array of strings
  roles TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE sessions (
  id TEXT COLLATE "C" CONSTRAINT "sessions.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- goes into the refresh tokens, which are made from the root secret and never stored
  salt TEXT NOT NULL,
  -- the number of the one refresh token that is good now
  generation BIGINT NOT NULL,
  -- when the latest tokens before it were replaced: a JSON array of times, oldest first
  replaced_at TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  -- the end if nothing happens, and the end whatever happens
  expires_at BIGINT NOT NULL,
  absolute_expires_at BIGINT NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL
-- a refresh writes the row anew: with room in its page, no index has to follow
) WITH (fillfactor = 70);

CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE signing_keys (
  id TEXT COLLATE "C" CONSTRAINT "signing_keys.id" PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  -- encrypted with a key made from the root secret
  private_jwk_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- since when it signs nothing any more
  retired_at BIGINT
);

CREATE TABLE webhook_events (
  id TEXT COLLATE "C" CONSTRAINT "webhook_events.id" PRIMARY KEY,
  type TEXT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  -- the very bytes that are signed and sent
  body TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  -- not before this time; past it, an attempt that was begun and never ended counts as failed
  next_attempt_at BIGINT NOT NULL,
  -- of the last attempt: what was answered, or what went wrong
  status BIGINT,
  problem TEXT,
  delivered_at BIGINT,
  -- when it was delivered or given up
  closed_at BIGINT
);

CREATE INDEX webhook_events_open ON webhook_events (user_id, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_closed ON webhook_events (closed_at) WHERE closed_at IS NOT NULL
