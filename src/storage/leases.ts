import type { Database } from './database.ts'

/**
 * Takes a piece of work for one process alone until a time (milliseconds since 1970): false while another has it.
 * Taken again by the same process it is moved; a process that died is waited for no longer than that time.
 */
export const takeLease = async (
  db: Pick<Database, 'run'>,
  { name, holder, nowMs, untilMs }: { name: string; holder: string; nowMs: number; untilMs: number },
): Promise<boolean> => {
  // The time has thirteen digits until the year 2286: the order of texts is the order of times, and the holder follows.
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
