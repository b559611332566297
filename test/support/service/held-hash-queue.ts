import type { TestContext } from 'node:test'
import { logIn, newAgent, signedUp } from '../client/accounts.ts'
import { openDatabase } from '../database/database.ts'
import { eventually } from '../wait.ts'
import type { MeteredService } from './metrics.ts'

/** A hash that takes 35 times as long to verify as others, and matches no password. */
const SLOW_HASH = `$argon2id$v=19$m=19456,t=70,p=1$c29tZXNhbHRzb21lc2FsdA$${'A'.repeat(43)}`

/** Resolves when this many hashes are running, or waiting, in a service. */
const hashesAre = (service: MeteredService, state: 'running' | 'waiting', count: number): Promise<void> =>
  eventually(
    `${count} hashes are ${state}`,
    async () => {
      const metrics = await service.scrape()
      return metrics.value(`svc_password_hashes_${state}`) === count
    },
    10,
  )

/**
 * Holds the queue of hashes of a service with `SVC_HASHES_AT_ONCE=1`: whatever comes then waits for as long as 35
 * hashes take. `isFollowedBy` resolves when so many wait; `released` when the hold has ended.
 */
export const holdHashQueue = async (service: MeteredService, t: TestContext) => {
  const { person } = await signedUp(service)
  const database = await openDatabase(service, t)
  await database.rows('UPDATE users SET password_hash = ? WHERE username = ?', SLOW_HASH, person.username)
  const held = logIn(newAgent(service), person)
  await hashesAre(service, 'running', 1)
  return {
    isFollowedBy: (count: number): Promise<void> => hashesAre(service, 'waiting', count),
    released: async (): Promise<void> => void (await held),
  }
}
