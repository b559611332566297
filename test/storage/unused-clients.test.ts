// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../src/clients/client.ts'
import {
  deleteUnusedBefore,
  deleteUnusedButNewest,
  findClients,
  insertClient,
  updateClientUse,
} from '../../src/clients/client-store.ts'
import { freshDatabase } from './databases.ts'

const client = (id: string, createdAtMs: number, kind: Client['kind'] = 'registered'): Client => ({
  id,
  kind,
  type: 'native',
  name: id,
  redirectUris: ['http://localhost/'],
  logoutUris: [],
  createdAtMs,
  backchannelLogoutUri: undefined,
  scopes: undefined,
  resources: [],
  firstParty: false,
  requireMfa: false,
  usedAtMs: undefined,
  disabledAtMs: undefined,
})

/** Clients that nobody has used, the newest first, and others that are older than all of them. */
const filled = async (t: Parameters<typeof freshDatabase>[0]) => {
  const db = await (await freshDatabase(t)).open()
  for (const [id, kind] of [
    ['made', 'operator'],
    ['https://a.example/c', 'document'],
    ['used', 'registered'],
  ] as const)
    await insertClient(db, client(id, 1, kind))
  assert.equal(await updateClientUse(db, 'used', 100_000), 1)
  assert.equal(await updateClientUse(db, 'used', 100_500), 0, 'once a minute')
  for (let time = 10; time < 15; time += 1) await insertClient(db, client(`unused-${time}`, time))
  const left = async () => (await findClients(db, 100)).map(({ id }) => id)
  return { db, left }
}

const OTHERS = ['used', 'made', 'https://a.example/c']

test('of the clients that nobody has used, the newest are kept, and every other client', async (t) => {
  const { db, left } = await filled(t)
  assert.equal(await deleteUnusedButNewest(db, 5), 0)
  assert.equal(await deleteUnusedButNewest(db, 2), 3)
  assert.deepEqual(await left(), ['unused-14', 'unused-13', ...OTHERS])
})

test('those that are older than a time go, so many at once, the oldest first', async (t) => {
  const { db, left } = await filled(t)
  assert.equal(await deleteUnusedBefore(db, 12, 2), 2)
  assert.deepEqual(await left(), ['unused-14', 'unused-13', 'unused-12', ...OTHERS])
  assert.equal(await deleteUnusedBefore(db, 12, 2), 1)
  assert.equal(await deleteUnusedBefore(db, 12, 2), 0)
})
