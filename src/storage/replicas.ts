import { MOMENT, type Queries } from './database.ts'

/** A process that serves. */
export interface Replica {
  id: string
  version: string
  /** The name of its machine. */
  host: string
  startedAtMs: number
}

export interface SeenReplica extends Replica {
  seenAtMs: number
}

/** A process that has not been seen for so long has ended, however it did. */
const GONE_AFTER_MS = 5 * 60_000

const nameOf = (id: string): string => `replica ${id}`

/** Leaves the mark of a process that serves, for operators who look; takes away the marks of those that are gone. */
export const noteReplica = async (db: Pick<Queries, 'run'>, replica: Replica, nowMs: number): Promise<void> => {
  const { id, version, host, startedAtMs } = replica
  await db.run(
    `WITH ${MOMENT}
     INSERT INTO installation (name, value)
     SELECT CAST(? AS TEXT), SUBSTR(CAST(10000000000000 + now AS TEXT), 2) || ' ' || CAST(? AS TEXT) FROM moment WHERE TRUE
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    nowMs,
    nameOf(id),
    JSON.stringify({ version, host, startedAtMs }),
  )
  await db.run(
    `DELETE FROM installation WHERE name LIKE 'replica %'
       AND CAST(SUBSTR(value, 1, 13) AS BIGINT) < COALESCE(server_time(), CAST(? AS BIGINT)) - ?`,
    nowMs,
    GONE_AFTER_MS,
  )
}

export const forgetReplica = async (db: Pick<Queries, 'run'>, { id }: Replica): Promise<void> => {
  await db.run('DELETE FROM installation WHERE name = ?', nameOf(id))
}

/** Finds the processes that serve now, the longest first. */
export const findReplicas = async (db: Pick<Queries, 'all'>, nowMs: number): Promise<SeenReplica[]> => {
  const rows = await db.all<{ name: string; value: string }>(
    `SELECT name, value FROM installation WHERE name LIKE 'replica %'
       AND CAST(SUBSTR(value, 1, 13) AS BIGINT) >= COALESCE(server_time(), CAST(? AS BIGINT)) - ?`,
    nowMs,
    GONE_AFTER_MS,
  )
  return rows
    .map(({ name, value }) => ({
      ...(JSON.parse(value.slice(14)) as Omit<Replica, 'id'>),
      id: name.slice(nameOf('').length),
      seenAtMs: Number(value.slice(0, 13)),
    }))
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs)
}
