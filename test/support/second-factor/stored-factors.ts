import { randomUUID } from 'node:crypto'
import type { OpenDatabase } from '../database/database.ts'

/** Rows as they are stored, for tests about who has what; nobody can sign in with them. */
export const storePasskey = async ({ rows }: OpenDatabase, userId: string): Promise<void> => {
  const id = randomUUID()
  await rows(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, name, aaguid, transports, sign_count,
       backup_eligible, backed_up, created_at)
     VALUES (?, ?, ?, 'none', 'Phone', '00000000-0000-0000-0000-000000000000', '[]', 0, 1, 1, ?) RETURNING id`,
    id,
    userId,
    id,
    Date.now(),
  )
}

export const storeCodes = async ({ rows }: OpenDatabase, userId: string): Promise<void> => {
  await rows(
    `INSERT INTO one_time_codes (user_id, secret_sealed, created_at, last_used_step, wrong_in_a_row)
     VALUES (?, 'none', ?, 0, 0) RETURNING user_id`,
    userId,
    Date.now(),
  )
}
