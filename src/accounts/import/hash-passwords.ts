import type { Clock } from '../../lib/time.ts'
import type { Database } from '../../storage/database.ts'
import type { Passwords } from '../passwords/passwords.ts'
import { decide, type FindConnected } from './decisions.ts'
import type { ImportedUser } from './imported-user.ts'

interface HashPasswordsDeps {
  db: Database
  clock: Clock
  passwords: Pick<Passwords, 'hash'>
  /** As many as run at the same time: the queue may have no places. */
  hashesAtOnce: number
  findConnected: FindConnected
}

/** Hashes the plain passwords of the users who are new: those who are there already cost nothing. */
export const hashPasswords = async (
  users: readonly ImportedUser[],
  { db, clock, passwords, hashesAtOnce, findConnected }: HashPasswordsDeps,
): Promise<Map<ImportedUser, string>> => {
  const hashes = new Map<ImportedUser, string>()
  const plain = users.filter(({ password }) => password !== undefined)
  if (plain.length === 0) return hashes
  const decisions = await decide(db, plain, { findConnected, nowMs: clock.now() })
  const fresh = plain.filter((_, index) => decisions[index]?.kind === 'new')
  for (let start = 0; start < fresh.length; start += hashesAtOnce) {
    const together = fresh.slice(start, start + hashesAtOnce)
    const made = await Promise.all(together.map(({ password = '' }) => passwords.hash(password)))
    for (const [index, user] of together.entries()) hashes.set(user, made[index] ?? '')
  }
  return hashes
}
