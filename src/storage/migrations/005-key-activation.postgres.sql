-- works with: 001-beginning

-- from when the key signs; none: from the moment that it was made
ALTER TABLE signing_keys ADD COLUMN signs_at BIGINT;

-- since when nothing that the key has signed is accepted; none: what it has signed is good for its time
ALTER TABLE signing_keys ADD COLUMN revoked_at BIGINT
