-- works with: 001-beginning

-- What the user proved when they last authenticated: values of RFC 8176, with spaces between them; null: not known.
ALTER TABLE sessions ADD COLUMN amr TEXT;

-- The provider by which they did, as the settings name it; null where there was none.
ALTER TABLE sessions ADD COLUMN provider TEXT;

-- What authenticators know the user by: 32 random bytes as base64url; null before the first passkey.
ALTER TABLE users ADD COLUMN user_handle TEXT;

-- Sign-ins under way belong to the number under which they began; whatever ends sessions adds one.
ALTER TABLE users ADD COLUMN sign_in_generation BIGINT NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX users_by_user_handle ON users (user_handle) WHERE user_handle IS NOT NULL;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- base64url, of 1,023 bytes at most
  credential_id TEXT NOT NULL UNIQUE,
  -- the COSE key as base64url
  public_key TEXT NOT NULL,
  name TEXT NOT NULL,
  -- the UUID of the kind of authenticator; all zeros where it does not say
  aaguid TEXT NOT NULL,
  -- a JSON array of strings, as the browser told them
  transports TEXT NOT NULL,
  sign_count BIGINT NOT NULL,
  -- 1: the passkey can be synced to other devices; and whether it is
  backup_eligible BIGINT NOT NULL,
  backed_up BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
) WITHOUT ROWID;

CREATE INDEX passkeys_of_user ON passkeys (user_id);

-- The authenticator app of a user; a row exists once its first code was right.
CREATE TABLE one_time_codes (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- encrypted with a key that is derived from the root secret
  secret_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- the number of the 30 seconds since 1970 whose code was used last
  last_used_step BIGINT NOT NULL,
  -- in browsers that the account does not know, since the last right code or new password
  wrong_in_a_row BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE recovery_codes (
  -- user_id/first character of the code
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Argon2id
  hash TEXT NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX recovery_codes_of_user ON recovery_codes (user_id);

-- What was sealed for one use, and used: challenges of passkeys, and sign-ins that waited for a second factor.
CREATE TABLE used_tokens (
  id TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX used_tokens_expired ON used_tokens (expires_at)
