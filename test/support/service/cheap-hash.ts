import type { TestContext } from 'node:test'
import { hash } from '@node-rs/argon2'
import type { Person } from '../client/accounts.ts'
import { openDatabase } from '../database/database.ts'
import type { Service } from './service.ts'

/**
 * Gives an account a cheap hash of its password, for tests that try many passwords. A login with the right password
 * replaces it with one at the full cost.
 */
export const giveCheapHash = async (service: Service, { email, password }: Person, t: TestContext): Promise<void> => {
  const cheap = await hash(Buffer.from(password), { memoryCost: 8, timeCost: 1, parallelism: 1 })
  const database = await openDatabase(service, t)
  const changed = await database.rows('UPDATE users SET password_hash = ? WHERE email = ? RETURNING id', cheap, email)
  if (changed.length !== 1) throw new Error(`there is no account of ${email}`)
}
