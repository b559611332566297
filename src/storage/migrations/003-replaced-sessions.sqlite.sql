-- works with: 001-beginning

-- Sessions that a later session of the same browser has replaced, kept as long as requests with the old cookies may be
-- under way. The later session may belong to another user.
CREATE TABLE replaced_sessions (
  id TEXT PRIMARY KEY,
  successor_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  -- for checking whether a refresh token of the replaced session is genuine
  salt TEXT NOT NULL,
  replaced_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX replaced_sessions_of_successor ON replaced_sessions (successor_id)
