import { queryKept } from '../postgres/postgres-databases.ts'

// A function of the same name that comes before PostgreSQL's own, for all connections from now on. Tables are made in
// `public` still, the first of the path.
const statements = (database: string): string[] => [
  'CREATE SCHEMA turned',
  'CREATE TABLE turned.clock (ahead_ms BIGINT NOT NULL)',
  'INSERT INTO turned.clock VALUES (0)',
  `CREATE FUNCTION turned.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT pg_catalog.clock_timestamp() + ahead_ms * INTERVAL '1 millisecond' FROM turned.clock $$`,
  `ALTER DATABASE "${database}" SET search_path = public, turned, pg_catalog`,
]

const turnable = new Map<string, Promise<void>>()
/** By the name of a clock or the clock itself. */
const urlsOf = new Map<unknown, Set<string>>()

const prepare = async (url: string): Promise<void> => {
  await queryKept(url, statements(new URL(url).pathname.slice(1)).join(';\n'))
}

/** Makes the clock of a PostgreSQL database one that `turnDatabases` turns by this name. */
export const makeTurnable = async (name: unknown, url: string): Promise<void> => {
  urlsOf.set(name, (urlsOf.get(name) ?? new Set()).add(url))
  const prepared = turnable.get(url) ?? prepare(url)
  turnable.set(url, prepared)
  await prepared
}

/** Turns the clocks of the databases that are known by this name. */
export const turnDatabases = async (name: unknown, aheadMs: number): Promise<void> => {
  for (const url of urlsOf.get(name) ?? []) await queryKept(url, 'UPDATE turned.clock SET ahead_ms = $1', [aheadMs])
}
