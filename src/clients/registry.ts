import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import type { Client } from './client.ts'
import { findClient } from './client-store.ts'

/** The registry has the clients that the operator made, that have registered themselves, or that have a document. */
export interface Registry {
  /** Finds a client by its id, unless it is disabled. It fetches nothing. */
  find(id: string): Promise<Client | undefined>
}

interface RegistryDeps {
  db: Database
  clock: Clock
}

export const createRegistry = ({ db }: RegistryDeps): Registry => ({
  async find(id) {
    const client = await findClient(db, id)
    return client?.disabledAtMs === undefined ? client : undefined
  },
})
