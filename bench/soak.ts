// Hours of mixed load on SQLite.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { benchSoak } from './soak/measure.ts'
import { DATABASE } from './support/servers.ts'

const sizeMb = (file: string): number => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 1_000_000

await benchSoak('Hours of mixed load, SQLite', async (_run, folder) => {
  const file = join(folder, DATABASE)
  return { env: {}, sizes: async () => ({ walMb: sizeMb(`${file}-wal`), databaseMb: sizeMb(file) }) }
})
