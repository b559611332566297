-- works with: 001-beginning

-- when a user proved that the address is theirs; null: anyone may have entered it
ALTER TABLE users ADD COLUMN email_verified_at BIGINT;

-- when the user last authenticated; a provider may sign in a user whom it knows without authentication
ALTER TABLE sessions ADD COLUMN authenticated_at BIGINT;

CREATE TABLE identities (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- the provider's name in the settings
  provider TEXT NOT NULL,
  -- identify the user (OpenID Connect Core section 2)
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- the provider's email for the user, so that people can tell connections apart
  email TEXT,
  created_at BIGINT NOT NULL,
  UNIQUE (subject, issuer)
) WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user_id);

-- Sign-ins that have come back from a provider, so that none is used twice. Their ids are in the order of time.
CREATE TABLE used_oauth_states (
  id TEXT PRIMARY KEY
) WITHOUT ROWID
