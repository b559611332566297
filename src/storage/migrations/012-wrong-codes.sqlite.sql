-- works with: 001-beginning

-- Wrong codes in a row on the pages of links, where an attacker who has the password alone cannot use them up.
ALTER TABLE one_time_codes ADD COLUMN wrong_on_links BIGINT NOT NULL DEFAULT 0;

-- The same wherever they are entered, since the last right code, recovery code, passkey or new password.
ALTER TABLE one_time_codes ADD COLUMN wrong_anywhere BIGINT NOT NULL DEFAULT 0
