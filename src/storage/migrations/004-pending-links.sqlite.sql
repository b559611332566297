-- works with: 001-beginning

-- Provider accounts that wait for proof that a user's account belongs to the same person. Ids are in the order of time.
CREATE TABLE pending_links (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- SHA-256 of the browser's secret, and of the provider's profile with the account
  browser TEXT NOT NULL,
  content TEXT NOT NULL,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX pending_links_of_user ON pending_links (user_id)
