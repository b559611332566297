-- works with: 001-beginning

-- The place of the user in lists, by the order in which svc got to know the users. It is null until users are listed:
-- a number that the insert itself took could be smaller than one that is on a page already.
ALTER TABLE users ADD COLUMN position BIGINT;

-- of what the server API shows, but for the time of the last activity; null: when the account was made
ALTER TABLE users ADD COLUMN updated_at BIGINT;

CREATE UNIQUE INDEX users_by_position ON users (position) WHERE position IS NOT NULL;

CREATE INDEX users_without_position ON users (created_at, id) WHERE position IS NULL;

CREATE INDEX users_by_update ON users (COALESCE(updated_at, created_at));

-- Keys of the application's backend for the server API.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- SHA-256 of the key, which is stored nowhere
  key_hash TEXT NOT NULL UNIQUE,
  -- a JSON array of strings
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- null: never
  expires_at BIGINT,
  revoked_at BIGINT,
  last_used_at BIGINT
) WITHOUT ROWID;

-- A revoked key gives its name back.
CREATE UNIQUE INDEX api_keys_by_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Requests of the server API with an Idempotency-Key, and the answers that are repeated.
CREATE TABLE idempotent_requests (
  -- api_key_id/SHA-256 of the Idempotency-Key
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  -- HMAC of method, path and body, with a key that is derived from the root secret: a body may hold a password
  request_hash TEXT NOT NULL,
  -- until when the first request counts as under way
  claimed_until BIGINT NOT NULL,
  -- null until the answer is known
  status BIGINT,
  -- encrypted with a key that is derived from the root secret; null until the answer is known
  answer_sealed TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX idempotent_requests_expired ON idempotent_requests (expires_at);

CREATE INDEX idempotent_requests_of_key ON idempotent_requests (api_key_id)
