-- works with: 001-beginning

-- Counts are lost when the server crashes, and then begin again: in return, counting waits for no disk.
ALTER TABLE counters SET UNLOGGED;

-- 1: counted for a network alone, of which there can be a flood; these rows go first when the table is full.
ALTER TABLE counters ADD COLUMN of_network BIGINT NOT NULL DEFAULT 0;

-- What happened, for operators and users. Rows are added and never changed, but for those that are counted together
-- (tally), and for those of a deleted user.
CREATE TABLE audit_events (
  -- UUIDv7, so in the order of time
  id TEXT COLLATE "C" CONSTRAINT "audit_events.id" PRIMARY KEY,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  -- whose account it happened to; it stays when the user is deleted
  user_id TEXT COLLATE "C",
  -- user, cli, api:NAME or system
  actor TEXT NOT NULL,
  address TEXT,
  user_agent TEXT,
  request_id TEXT,
  session_id TEXT COLLATE "C",
  -- a JSON object
  details TEXT NOT NULL,
  -- how many events the row stands for
  count BIGINT NOT NULL,
  -- what events are counted by that share a row; null where each has its own
  tally TEXT COLLATE "C"
);

CREATE INDEX audit_events_of_user ON audit_events (user_id, id);

CREATE INDEX audit_events_of_type ON audit_events (type, id);

CREATE UNIQUE INDEX audit_events_by_tally ON audit_events (tally) WHERE tally IS NOT NULL
