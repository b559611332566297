-- works with: 001-beginning

-- when the key begins to sign; null: when it was created
ALTER TABLE signing_keys ADD COLUMN signs_at BIGINT;

-- when all tokens of the key stopped being accepted; null: its tokens are valid until they expire
ALTER TABLE signing_keys ADD COLUMN revoked_at BIGINT
