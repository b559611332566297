-- works with: 001-beginning

-- Sessions that a later one of the same browser has replaced, for as long as requests with the old cookies may be under
-- way. The later one may be another user's.
CREATE TABLE replaced_sessions (
  id TEXT PRIMARY KEY,
  successor_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  -- tells whether a refresh token of the replaced session is genuine
  salt TEXT NOT NULL,
  replaced_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX replaced_sessions_of_successor ON replaced_sessions (successor_id)
