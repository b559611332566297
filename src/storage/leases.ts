import type { Database } from './database.ts'

/**
 * Takes a lease, which gives a job to one process until a time (milliseconds since 1970). Resolves to false while
 * another process holds it. Its holder can extend it. When a process dies, its lease is free again at that time.
 */
export const takeLease = async (
  db: Pick<Database, 'run'>,
  { name, holder, nowMs, untilMs }: { name: string; holder: string; nowMs: number; untilMs: number },
): Promise<boolean> => {
  // The value is `TIME HOLDER`. Until the year 2286 a time has thirteen digits, so that times compare as text, and the
  // holder begins at character 15.
  const changes = await db.run(
    `INSERT INTO installation (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE installation.value <= ? OR SUBSTR(installation.value, 15) = ?`,
    `lease ${name}`,
    `${untilMs} ${holder}`,
    String(nowMs),
    holder,
  )
  return changes > 0
}
