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
  -- the name of the person, and in the form that is searched; null: none is known
  name TEXT,
  name_lower TEXT,
  -- The tag of a language (BCP 47); null until it is known.
  language TEXT,
  -- a PHC string; null for a user who signs in only with a provider
  password_hash TEXT,
  -- a JSON array of strings
  roles TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  -- when a user proved that the address is theirs; null: anyone may have entered it
  email_verified_at BIGINT,
  -- 0: an operator, an invitation or the API made the account. Its roles stay when the owner of its email reclaims it.
  self_made INTEGER NOT NULL DEFAULT 1,
  -- set for an invited account that nobody has entered yet
  invited_at BIGINT,
  -- The place of the user in lists, by the order in which svc got to know the users. It is null until users are listed:
  -- a number that the insert itself took could be smaller than one that is on a page already.
  position BIGINT,
  -- when anything last changed that the server API shows, but for the time of the last activity
  updated_at BIGINT NOT NULL,
  -- Authenticators know the user by it: 32 random bytes as base64url; null before the first passkey.
  user_handle TEXT COLLATE "C",
  -- SHA-256 of the secret in the cookie of the browser that signed up; null once the address is verified or another one.
  signup_browser TEXT COLLATE "C",
  -- Sign-ins under way belong to the number under which they began; whatever ends sessions adds one.
  sign_in_generation BIGINT NOT NULL DEFAULT 0,
  -- when the first session began; null: there has been none
  first_session_at BIGINT
);

CREATE UNIQUE INDEX users_by_position ON users (position) WHERE position IS NOT NULL;

CREATE INDEX users_without_position ON users (created_at, id) WHERE position IS NULL;

CREATE INDEX users_by_update ON users (updated_at);

CREATE INDEX users_by_creation ON users (created_at);

-- Few users are left by these filters of lists. The second column is there for SQLite, which takes the index that has
-- all that a query needs.
CREATE INDEX users_disabled ON users (position, disabled) WHERE disabled = 1 AND position IS NOT NULL;

CREATE INDEX users_unverified ON users (position, email_verified_at)
  WHERE email_verified_at IS NULL AND position IS NOT NULL;

CREATE INDEX users_without_session ON users (position, first_session_at)
  WHERE first_session_at IS NULL AND position IS NOT NULL;

CREATE INDEX users_with_roles ON users (position, roles) WHERE roles <> '[]' AND position IS NOT NULL;

CREATE UNIQUE INDEX users_by_user_handle ON users (user_handle) WHERE user_handle IS NOT NULL;

CREATE TABLE identities (
  id TEXT COLLATE "C" CONSTRAINT "identities.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- the provider's name in the settings
  provider TEXT NOT NULL,
  -- identify the user (OpenID Connect Core section 2)
  issuer TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  -- the provider's email for the user, so that people can tell connections apart
  email TEXT,
  created_at BIGINT NOT NULL,
  CONSTRAINT "identities.subject" UNIQUE (subject, issuer)
);

CREATE INDEX identities_of_user ON identities (user_id);

-- Provider accounts that wait for proof that a user's account belongs to the same person. Ids are in the order of time.
CREATE TABLE pending_links (
  id TEXT COLLATE "C" CONSTRAINT "pending_links.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- SHA-256 of the browser's secret, and of the provider's profile with the account
  browser TEXT NOT NULL,
  content TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX pending_links_of_user ON pending_links (user_id);

-- Sign-ins that have come back from a provider, so that none is used twice. Their ids are in the order of time.
CREATE TABLE used_oauth_states (
  id TEXT COLLATE "C" CONSTRAINT "used_oauth_states.id" PRIMARY KEY
);

CREATE TABLE sessions (
  id TEXT COLLATE "C" CONSTRAINT "sessions.id" PRIMARY KEY,
  -- A user with sessions is not deleted: sessions end before, so that verifiers of their tokens learn of it.
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
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
  address TEXT NOT NULL,
  -- when the user last authenticated; a provider may sign in a user whom it knows without authentication
  authenticated_at BIGINT,
  -- of the secret in the browser's cookie
  device_hash TEXT NOT NULL,
  -- the user's proofs when they last authenticated: values of RFC 8176, with spaces between them; null: not known
  amr TEXT,
  -- the provider by which they did, as the settings name it; null where there was none
  provider TEXT
-- a refresh writes a new version of the row: with free space in its page, no index changes
) WITH (fillfactor = 70);

CREATE INDEX sessions_of_user ON sessions (user_id);

-- Sessions that a later session of the same browser has replaced, kept as long as requests with the old cookies may be
-- under way. The later session may belong to another user.
CREATE TABLE replaced_sessions (
  id TEXT COLLATE "C" CONSTRAINT "replaced_sessions.id" PRIMARY KEY,
  successor_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  -- for checking whether a refresh token of the replaced session is genuine
  salt TEXT NOT NULL,
  replaced_at BIGINT NOT NULL
);

CREATE INDEX replaced_sessions_of_successor ON replaced_sessions (successor_id);

-- Clients of the OAuth server (docs/clients.md).
CREATE TABLE clients (
  -- an id of svc, or the URL of a metadata document
  id TEXT COLLATE "C" CONSTRAINT "clients.id" PRIMARY KEY,
  -- operator, registered or document
  kind TEXT NOT NULL,
  -- web, native or browser
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  -- null: a public client
  secret_hash TEXT,
  -- the secret before it, which is good until a time
  former_secret_hash TEXT,
  former_until BIGINT,
  -- JSON lists
  redirect_uris TEXT NOT NULL,
  logout_uris TEXT NOT NULL,
  backchannel_logout_uri TEXT,
  -- a JSON list; null: every scope but roles
  scopes TEXT,
  -- a JSON list; empty: every resource
  resources TEXT NOT NULL,
  first_party BIGINT NOT NULL,
  require_mfa BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- when it was last given a code
  used_at BIGINT,
  disabled_at BIGINT,
  -- of a metadata document: when it was last good, and until when it need not be fetched again
  fetched_at BIGINT,
  fresh_until BIGINT
);

CREATE INDEX clients_unused ON clients (kind, created_at) WHERE used_at IS NULL;

-- A grant is a session with a client.
CREATE TABLE grants (
  -- UUIDv7, so in the order of time; the claim sid
  id TEXT COLLATE "C" CONSTRAINT "grants.id" PRIMARY KEY,
  -- As with sessions, nothing deletes a grant but what ends it.
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  client_id TEXT COLLATE "C" NOT NULL REFERENCES clients (id),
  -- it ends with this session of a browser, in the same transaction; null: it lives by itself
  session_id TEXT COLLATE "C" REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  -- refresh tokens are made with it, as those of sessions
  salt TEXT NOT NULL,
  generation BIGINT NOT NULL,
  replaced_at TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  absolute_expires_at BIGINT NOT NULL,
  -- with spaces between them
  scopes TEXT NOT NULL,
  -- null: for userinfo alone
  resource TEXT,
  authenticated_at BIGINT,
  amr TEXT
);

CREATE INDEX grants_of_user ON grants (user_id, last_used_at);

CREATE INDEX grants_of_client ON grants (client_id);

CREATE INDEX grants_of_session ON grants (session_id) WHERE session_id IS NOT NULL;

CREATE INDEX grants_expired ON grants (expires_at);

CREATE TABLE authorization_codes (
  -- the hash of the code
  id TEXT COLLATE "C" CONSTRAINT "authorization_codes.id" PRIMARY KEY,
  client_id TEXT COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- the session that gave it; null: it has ended, and the code with it
  session_id TEXT COLLATE "C" REFERENCES sessions (id) ON DELETE SET NULL,
  -- the grant that it was traded for
  grant_id TEXT COLLATE "C",
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  scopes TEXT NOT NULL,
  resource TEXT,
  nonce TEXT,
  authenticated_at BIGINT,
  amr TEXT,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE INDEX authorization_codes_of_session ON authorization_codes (session_id) WHERE session_id IS NOT NULL;

CREATE INDEX authorization_codes_of_user ON authorization_codes (user_id);

CREATE INDEX authorization_codes_of_client ON authorization_codes (client_id);

CREATE INDEX authorization_codes_expired ON authorization_codes (expires_at);

-- What a user has allowed a client that the operator made.
-- A row whose id is of user and client alone says that the client has had a grant, of which the user was told.
CREATE TABLE consents (
  -- the hash of user, client and resource
  id TEXT COLLATE "C" CONSTRAINT "consents.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  client_id TEXT COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  -- empty: none
  resource TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX consents_of_user ON consents (user_id);

CREATE INDEX consents_of_client ON consents (client_id);

-- Logout tokens on their way to clients (OpenID Connect Back-Channel Logout 1.0). Grant and user may be gone.
CREATE TABLE logout_tokens (
  -- the claim jti
  id TEXT COLLATE "C" CONSTRAINT "logout_tokens.id" PRIMARY KEY,
  client_id TEXT COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  uri TEXT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_attempt_at BIGINT NOT NULL
);

CREATE INDEX logout_tokens_due ON logout_tokens (next_attempt_at);

CREATE INDEX logout_tokens_of_client ON logout_tokens (client_id);

-- What verifiers of tokens must know: sessions and grants that have ended, and users whose claims have changed.
CREATE TABLE revocations (
  -- UUIDv7
  id TEXT COLLATE "C" CONSTRAINT "revocations.id" PRIMARY KEY,
  -- the place in the feed
  seq BIGINT NOT NULL CONSTRAINT "revocations.seq" UNIQUE,
  at BIGINT NOT NULL,
  -- session-revoked, sessions-revoked or token-claims-change
  type TEXT NOT NULL,
  -- null: the sessions of all users
  user_id TEXT COLLATE "C",
  -- a JSON array of strings
  session_ids TEXT,
  -- the session that goes on in place of the one that has ended
  replaced_by TEXT COLLATE "C",
  reason TEXT,
  -- tokens that were issued up to this time are looked at again
  not_before BIGINT,
  -- no token that it is about is good any longer then
  expires_at BIGINT NOT NULL
);

-- The same until a reader comes, written in the transaction of what it tells. A number that the insert itself took could
-- be smaller than one that was read already.
CREATE TABLE new_revocations (
  id TEXT COLLATE "C" CONSTRAINT "new_revocations.id" PRIMARY KEY,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  user_id TEXT COLLATE "C",
  session_ids TEXT,
  replaced_by TEXT COLLATE "C",
  reason TEXT,
  expires_at BIGINT NOT NULL
);

CREATE TABLE signing_keys (
  id TEXT COLLATE "C" CONSTRAINT "signing_keys.id" PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  -- encrypted with a key that is derived from the root secret
  private_jwk_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- when it stopped signing
  retired_at BIGINT,
  -- when the key begins to sign; null: when it was created
  signs_at BIGINT,
  -- when all tokens of the key stopped being accepted; null: its tokens are valid until they expire
  revoked_at BIGINT
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
  closed_at BIGINT,
  -- number of attempts before the latest redelivery
  attempts_before BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX webhook_events_open ON webhook_events (user_id, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX webhook_events_failed ON webhook_events (id) WHERE closed_at IS NOT NULL AND delivered_at IS NULL;

CREATE INDEX webhook_events_closed ON webhook_events (closed_at) WHERE closed_at IS NOT NULL;

-- The result of each delivery attempt. If the process of an attempt died without a result, the next attempt stores it as
-- interrupted.
CREATE TABLE webhook_attempts (
  -- event_id/number
  id TEXT COLLATE "C" CONSTRAINT "webhook_attempts.id" PRIMARY KEY,
  event_id TEXT COLLATE "C" NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
  -- counted from 1, across redeliveries
  number BIGINT NOT NULL,
  -- null: unknown
  ended_at BIGINT,
  duration_ms BIGINT,
  -- the status of the response, or the failure
  status BIGINT,
  problem TEXT,
  -- delivered, retried, failed or interrupted
  outcome TEXT NOT NULL
);

CREATE INDEX webhook_attempts_of_event ON webhook_attempts (event_id, number);

-- Every link that was handed out. It is live until it ends or expires.
CREATE TABLE links (
  id TEXT COLLATE "C" CONSTRAINT "links.id" PRIMARY KEY,
  -- SHA-256 of the token, which is stored nowhere
  token_hash TEXT COLLATE "C" NOT NULL CONSTRAINT "links.token_hash" UNIQUE,
  purpose TEXT NOT NULL,
  -- null for a signup that waits for its confirmation
  user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
  -- the address that the link is about, in the form that is compared
  email_lower TEXT COLLATE "C" NOT NULL,
  -- JSON: what the purpose needs
  details TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended_at BIGINT,
  -- used, replaced or ended
  ended_by TEXT
);

CREATE INDEX links_of_user ON links (user_id, purpose);

CREATE INDEX links_of_email ON links (email_lower, purpose);

CREATE INDEX links_expired ON links (expires_at);

-- Codes that stand beside links, and are typed in the browser that has asked for them.
CREATE TABLE mail_codes (
  link_id TEXT COLLATE "C" CONSTRAINT "mail_codes.link_id" PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
  -- of the secret in the browser's cookie
  browser TEXT COLLATE "C" NOT NULL,
  -- HMAC of the code with a key that is derived from the root secret; null: nobody was sent one
  code_hash TEXT,
  -- codes that were typed, counted before they are compared
  tries BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX mail_codes_of_browser ON mail_codes (browser);

-- Former addresses that a link may put back. Until then, nobody else can take them.
CREATE TABLE reserved_emails (
  email_lower TEXT COLLATE "C" CONSTRAINT "reserved_emails.email_lower" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  until BIGINT NOT NULL
);

CREATE INDEX reserved_emails_of_user ON reserved_emails (user_id);

-- Signups that wait for their confirmation.
CREATE TABLE pending_signups (
  id TEXT COLLATE "C" CONSTRAINT "pending_signups.id" PRIMARY KEY,
  link_id TEXT COLLATE "C" NOT NULL REFERENCES links (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  email_lower TEXT COLLATE "C" NOT NULL,
  -- null: made of the email
  username TEXT,
  -- null: none was given
  name TEXT,
  language TEXT,
  password_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX pending_signups_of_link ON pending_signups (link_id);

CREATE INDEX pending_signups_of_email ON pending_signups (email_lower);

-- Messages: requested (the recipient is as entered, and no account was looked up yet), waiting, sent, failed or dropped.
CREATE TABLE mail_messages (
  id TEXT COLLATE "C" CONSTRAINT "mail_messages.id" PRIMARY KEY,
  purpose TEXT NOT NULL,
  -- the user stays named after their account is deleted, since the message about that is sent afterwards
  user_id TEXT COLLATE "C",
  -- null once the message was forgotten
  recipient TEXT,
  -- encrypted with a key that is derived from the root secret; null once the message was forgotten
  content_sealed TEXT,
  -- a message is not sent once its link is no longer live
  link_id TEXT COLLATE "C",
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
);

CREATE INDEX mail_messages_due ON mail_messages (next_attempt_at, id) WHERE closed_at IS NULL;

CREATE INDEX mail_messages_failed ON mail_messages (id) WHERE state = 'failed';

CREATE INDEX mail_messages_closed ON mail_messages (closed_at) WHERE closed_at IS NOT NULL;

CREATE INDEX mail_messages_of_user ON mail_messages (user_id);

-- Browsers in which a user has signed in completely.
CREATE TABLE known_browsers (
  -- user_id/device_hash
  id TEXT COLLATE "C" CONSTRAINT "known_browsers.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- of the secret in the browser's cookie
  device_hash TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  -- until when no second factor is asked for
  trusted_until BIGINT
);

CREATE INDEX known_browsers_of_user ON known_browsers (user_id);

CREATE INDEX known_browsers_of_device ON known_browsers (device_hash);

-- Counts within a fixed window, by all processes together. They are lost when the server crashes, and then begin again:
-- in return, counting waits for no disk.
CREATE UNLOGGED TABLE counters (
  -- limit and key
  id TEXT COLLATE "C" CONSTRAINT "counters.id" PRIMARY KEY,
  count BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  -- 1: counted for a network alone, of which there can be a flood; these rows go first when the table is full
  of_network BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX counters_ended ON counters (ends_at);

-- Keys of the application's backend for the server API.
CREATE TABLE api_keys (
  id TEXT COLLATE "C" CONSTRAINT "api_keys.id" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  -- SHA-256 of the key, which is stored nowhere
  key_hash TEXT COLLATE "C" NOT NULL CONSTRAINT "api_keys.key_hash" UNIQUE,
  -- a JSON array of strings
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- null: never
  expires_at BIGINT,
  revoked_at BIGINT,
  last_used_at BIGINT
);

-- A revoked key gives its name back.
CREATE UNIQUE INDEX api_keys_by_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Administrators are not users: they are let in at SVC_ADMIN_URL, by passkeys of that origin alone.
CREATE TABLE administrators (
  id TEXT COLLATE "C" CONSTRAINT "administrators.id" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL CONSTRAINT "administrators.name" UNIQUE,
  email TEXT NOT NULL,
  -- look or change
  role TEXT NOT NULL,
  -- authenticators know the administrator by it
  user_handle TEXT COLLATE "C" NOT NULL CONSTRAINT "administrators.user_handle" UNIQUE,
  -- SHA-256 of the token of the link in which the first passkey is made; null: there is none, or it was used
  invite_hash TEXT COLLATE "C" CONSTRAINT "administrators.invite_hash" UNIQUE,
  invite_expires_at BIGINT,
  created_at BIGINT NOT NULL
);

-- as in passkeys
CREATE TABLE administrator_passkeys (
  id TEXT COLLATE "C" CONSTRAINT "administrator_passkeys.id" PRIMARY KEY,
  administrator_id TEXT COLLATE "C" NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  credential_id TEXT COLLATE "C" NOT NULL CONSTRAINT "administrator_passkeys.credential_id" UNIQUE,
  public_key TEXT NOT NULL,
  name TEXT NOT NULL,
  aaguid TEXT NOT NULL,
  transports TEXT NOT NULL,
  sign_count BIGINT NOT NULL,
  backup_eligible BIGINT NOT NULL,
  backed_up BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);

CREATE INDEX administrator_passkeys_of_administrator ON administrator_passkeys (administrator_id);

CREATE TABLE administrator_sessions (
  id TEXT COLLATE "C" CONSTRAINT "administrator_sessions.id" PRIMARY KEY,
  administrator_id TEXT COLLATE "C" NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  -- SHA-256 of the cookie, which is stored nowhere
  secret_hash TEXT COLLATE "C" NOT NULL CONSTRAINT "administrator_sessions.secret_hash" UNIQUE,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  -- when a passkey was shown last: a change needs one of the last ten minutes
  proved_at BIGINT NOT NULL
);

CREATE INDEX administrator_sessions_of_administrator ON administrator_sessions (administrator_id);

-- Requests of the server API with an Idempotency-Key, and the answers that are repeated.
CREATE TABLE idempotent_requests (
  -- api_key_id/SHA-256 of the Idempotency-Key
  id TEXT COLLATE "C" CONSTRAINT "idempotent_requests.id" PRIMARY KEY,
  api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
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
);

CREATE INDEX idempotent_requests_expired ON idempotent_requests (expires_at);

CREATE INDEX idempotent_requests_of_key ON idempotent_requests (api_key_id);

CREATE TABLE passkeys (
  id TEXT COLLATE "C" CONSTRAINT "passkeys.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- base64url, of 1,023 bytes at most
  credential_id TEXT COLLATE "C" NOT NULL CONSTRAINT "passkeys.credential_id" UNIQUE,
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
);

CREATE INDEX passkeys_of_user ON passkeys (user_id);

-- The authenticator app of a user; a row exists once its first code was right.
CREATE TABLE one_time_codes (
  user_id TEXT COLLATE "C" CONSTRAINT "one_time_codes.user_id" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- encrypted with a key that is derived from the root secret
  secret_sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- the number of the 30 seconds since 1970 whose code was used last
  last_used_step BIGINT NOT NULL,
  -- in browsers that the account does not know, since the last right code or new password
  wrong_in_a_row BIGINT NOT NULL,
  -- the same on the pages of links, where an attacker who has the password alone cannot use them up
  wrong_on_links BIGINT NOT NULL DEFAULT 0,
  -- wherever they are entered, since the last right code, recovery code, passkey or new password
  wrong_anywhere BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE recovery_codes (
  -- user_id/first character of the code
  id TEXT COLLATE "C" CONSTRAINT "recovery_codes.id" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Argon2id
  hash TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX recovery_codes_of_user ON recovery_codes (user_id);

-- Tokens that were sealed for one use, and used: challenges of passkeys, and sign-ins that waited for a second factor.
CREATE TABLE used_tokens (
  id TEXT COLLATE "C" CONSTRAINT "used_tokens.id" PRIMARY KEY,
  expires_at BIGINT NOT NULL
);

CREATE INDEX used_tokens_expired ON used_tokens (expires_at);

-- Records of what happened, for operators and users. Rows are added and never changed, but for those that are counted together
-- (tally), and for those of a deleted user.
CREATE TABLE audit_events (
  -- UUIDv7, so in the order of time
  id TEXT COLLATE "C" CONSTRAINT "audit_events.id" PRIMARY KEY,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  -- the user to whose account it happened; it stays when the user is deleted
  user_id TEXT COLLATE "C",
  -- user, cli, api:NAME, admin:NAME or system
  actor TEXT NOT NULL,
  address TEXT,
  user_agent TEXT,
  request_id TEXT,
  session_id TEXT COLLATE "C",
  -- a JSON object
  details TEXT NOT NULL,
  -- how many events the row stands for
  count BIGINT NOT NULL,
  -- events that share a row are counted by it; null where each has its own
  tally TEXT COLLATE "C"
);

CREATE INDEX audit_events_of_user ON audit_events (user_id, id);

CREATE INDEX audit_events_of_type ON audit_events (type, id);

CREATE INDEX audit_events_of_address ON audit_events (address, id) WHERE address IS NOT NULL;

-- These are the few that operators, keys and svc itself have caused.
CREATE INDEX audit_events_of_actor ON audit_events (actor, id) WHERE actor <> 'user';

-- Ids of requests are random, so that a part of each finds it.
CREATE INDEX audit_events_of_request ON audit_events (SUBSTR(request_id, 1, 8)) WHERE request_id IS NOT NULL;

CREATE UNIQUE INDEX audit_events_by_tally ON audit_events (tally) WHERE tally IS NOT NULL;

-- This index leaves out failed logins: strangers make millions of those, among which a few other rows would be found too
-- late.
CREATE INDEX audit_events_of_user_untallied ON audit_events (user_id, at, id) WHERE tally IS NULL;

-- SQLite alone

-- Three letters in a row of what is searched in users lead to their positions (docs/decisions/080-search.md). It has
-- those up to the number in the row 'users indexed' of installation. A deleted user leaves its pages at once.
CREATE VIRTUAL TABLE user_search USING fts5 (
  of_email, of_username, of_name, of_roles,
  content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1'
);

INSERT INTO user_search (user_search, rank) VALUES ('secure-delete', 1);

-- It is merged in small steps, and not by the insert that makes a merge due.
INSERT INTO user_search (user_search, rank) VALUES ('automerge', 0);

CREATE TRIGGER user_search_delete AFTER DELETE ON users
WHEN OLD.position <= (SELECT CAST(value AS INTEGER) FROM installation WHERE name = 'users indexed')
BEGIN
  INSERT INTO user_search (user_search, rowid, of_email, of_username, of_name, of_roles)
  VALUES ('delete', OLD.position, OLD.email_lower, OLD.username, OLD.name_lower, OLD.roles); END;

CREATE TRIGGER user_search_update AFTER UPDATE OF email_lower, username, name_lower, roles ON users
WHEN OLD.position <= (SELECT CAST(value AS INTEGER) FROM installation WHERE name = 'users indexed')
  AND (OLD.email_lower, OLD.username, OLD.name_lower, OLD.roles) IS NOT
    (NEW.email_lower, NEW.username, NEW.name_lower, NEW.roles)
BEGIN
  INSERT INTO user_search (user_search, rowid, of_email, of_username, of_name, of_roles)
  VALUES ('delete', OLD.position, OLD.email_lower, OLD.username, OLD.name_lower, OLD.roles); INSERT INTO user_search
    (rowid, of_email, of_username, of_name, of_roles)
  VALUES (NEW.position, NEW.email_lower, NEW.username, NEW.name_lower, NEW.roles); END
