-- works with: 001-beginning

-- How each attempt to deliver an event ended. What was not written down, since its process died, is written down as
-- interrupted by the attempt after it.
CREATE TABLE webhook_attempts (
  -- event_id/number
  id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
  -- counted from 1 over every redelivery
  number BIGINT NOT NULL,
  -- none: not known
  ended_at BIGINT,
  duration_ms BIGINT,
  -- what was answered, or what went wrong
  status BIGINT,
  problem TEXT,
  -- delivered, retried, failed or interrupted
  outcome TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX webhook_attempts_of_event ON webhook_attempts (event_id, number);

-- What is known of events that were not delivered: how their latest attempt ended.
INSERT INTO webhook_attempts (id, event_id, number, ended_at, duration_ms, status, problem, outcome)
  SELECT id || '/' || attempts, id, attempts, closed_at, NULL, status, problem,
    CASE WHEN problem = 'interrupted' THEN 'interrupted' WHEN closed_at IS NULL THEN 'retried' ELSE 'failed' END
  FROM webhook_events WHERE attempts > 0 AND delivered_at IS NULL AND problem IS NOT NULL;

-- how many attempts there were before the latest redelivery
ALTER TABLE webhook_events ADD COLUMN attempts_before BIGINT NOT NULL DEFAULT 0
