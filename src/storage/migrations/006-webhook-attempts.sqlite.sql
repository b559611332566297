-- works with: 001-beginning

-- The result of each delivery attempt. If the process of an attempt died without a result, the next attempt stores it as
-- interrupted.
CREATE TABLE webhook_attempts (
  -- event_id/number
  id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
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
) WITHOUT ROWID;

CREATE INDEX webhook_attempts_of_event ON webhook_attempts (event_id, number);

-- For events that were not delivered, the result of the latest attempt is known.
INSERT INTO webhook_attempts (id, event_id, number, ended_at, duration_ms, status, problem, outcome)
  SELECT id || '/' || attempts, id, attempts, closed_at, NULL, status, problem,
    CASE WHEN problem = 'interrupted' THEN 'interrupted' WHEN closed_at IS NULL THEN 'retried' ELSE 'failed' END
  FROM webhook_events WHERE attempts > 0 AND delivered_at IS NULL AND problem IS NOT NULL;

-- number of attempts before the latest redelivery
ALTER TABLE webhook_events ADD COLUMN attempts_before BIGINT NOT NULL DEFAULT 0
