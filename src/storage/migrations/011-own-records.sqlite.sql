-- works with: 001-beginning

-- What happened to an account, without failed logins: strangers make millions of those, among which a few other rows
-- would be found too late.
CREATE INDEX audit_events_of_user_untallied ON audit_events (user_id, at, id) WHERE tally IS NULL
