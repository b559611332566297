-- works with: 001-beginning

-- 0: an operator, an invitation or the API made the account. Its roles stay when the owner of its email takes it over.
ALTER TABLE users ADD COLUMN self_made INTEGER NOT NULL DEFAULT 1;

-- set for an invited account that nobody has entered yet
ALTER TABLE users ADD COLUMN invited_at BIGINT;

-- of the secret in the browser's cookie; null for a session that is older than this column
ALTER TABLE sessions ADD COLUMN device_hash TEXT;

-- Every link that was handed out. It is live until it ends or expires.
CREATE TABLE links (
  id TEXT PRIMARY KEY,
  -- SHA-256 of the token, which is stored nowhere
  token_hash TEXT NOT NULL UNIQUE,
  purpose TEXT NOT NULL,
  -- null for a signup that waits for its confirmation
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  -- the address that the link is about, in the form that is compared
  email_lower TEXT NOT NULL,
  -- JSON: what the purpose needs
  details TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended_at BIGINT,
  -- used, replaced or ended
  ended_by TEXT
) WITHOUT ROWID;

CREATE INDEX links_of_user ON links (user_id, purpose);

CREATE INDEX links_of_email ON links (email_lower, purpose);

CREATE INDEX links_expired ON links (expires_at);

-- Former addresses that a link may put back. Until then, nobody else can take them.
CREATE TABLE reserved_emails (
  email_lower TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  until BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX reserved_emails_of_user ON reserved_emails (user_id);

-- Signups that wait for their confirmation.
CREATE TABLE pending_signups (
  id TEXT PRIMARY KEY,
  link_id TEXT NOT NULL REFERENCES links (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  email_lower TEXT NOT NULL,
  -- null: made of the email
  username TEXT,
  password_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX pending_signups_of_link ON pending_signups (link_id);

CREATE INDEX pending_signups_of_email ON pending_signups (email_lower);

-- Messages: requested (the recipient is as entered, and no account was looked up yet), waiting, sent, failed or dropped.
CREATE TABLE mail_messages (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  -- the user stays named after their account is deleted, since the message about that is sent afterwards
  user_id TEXT,
  -- null once the message was forgotten
  recipient TEXT,
  -- encrypted with a key that is derived from the root secret; null once the message was forgotten
  content_sealed TEXT,
  -- a message is not sent once its link is no longer live
  link_id TEXT,
  state TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- after this time no attempt begins
  expires_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT NOT NULL,
  -- of the last attempt
  problem TEXT,
  -- when it was sent, given up or dropped
  closed_at BIGINT
) WITHOUT ROWID;

CREATE INDEX mail_messages_due ON mail_messages (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX mail_messages_closed ON mail_messages (closed_at) WHERE closed_at IS NOT NULL;

CREATE INDEX mail_messages_of_user ON mail_messages (user_id);

-- Browsers in which a user has signed in completely.
CREATE TABLE known_browsers (
  -- user_id/device_hash
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- of the secret in the browser's cookie
  device_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  -- until when no second factor is asked for
  trusted_until BIGINT
) WITHOUT ROWID;

CREATE INDEX known_browsers_of_user ON known_browsers (user_id);

CREATE INDEX known_browsers_of_device ON known_browsers (device_hash);

-- What is counted within a fixed window, by all processes together.
CREATE TABLE counters (
  -- limit and key
  id TEXT PRIMARY KEY,
  count BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX counters_ended ON counters (ends_at)
