-- works with: 001-beginning

-- when somebody proved that the address is his; none: anybody may have entered it
ALTER TABLE users ADD COLUMN email_verified_at BIGINT;

-- when its user last showed who he is: a provider that knows him from before may let him in without
ALTER TABLE sessions ADD COLUMN authenticated_at BIGINT;

CREATE TABLE identities (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- as it is called in the settings
  provider TEXT NOT NULL,
  -- who vouches, and whom he means by it (OpenID Connect Core section 2)
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- as the provider gave it, for people to tell one from the other
  email TEXT,
  created_at BIGINT NOT NULL,
  UNIQUE (subject, issuer)
) WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user_id);

-- Sign-ins that have come back from a provider, so that none does twice. Their ids are in order of time.
CREATE TABLE used_oauth_states (
  id TEXT PRIMARY KEY
) WITHOUT ROWID
