import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const FIRST =
  'ada grace linus alan barbara edsger donald margaret dennis ken rob brian guido john mary patricia jennifer linda sarah karen nancy sandra ashley emily donna carol amanda melissa deborah laura sharon cynthia amy angela anna emma nicole helen maria julie victoria'
const LAST = 'an ber ca do el fa go har in jo ka lo mer no os pe qui ro sta tu ul va wa xi yo zu sch ng ov ski ez son'
const DOMAINS = 'gmail.com gmail.com gmail.com example.com example.com outlook.com yahoo.com company.org web.de'

const chooser = (words: string) => {
  const list = words.split(' ')
  return (random: number): string => list[random % list.length] ?? ''
}
const [firstName, syllable, domain] = [chooser(FIRST), chooser(LAST), chooser(DOMAINS)]

/** A number that is the same with each call, and has nothing in common with the next one (the finalizer of MurmurHash3). */
const scatter = (n: number, salt: number): number => {
  let hash = Math.imul(n ^ (salt * 0x9e37_79b9), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

export interface Person {
  email: string
  username: string
  name: string
}

/** People with the names and addresses that users have. */
export const personAt = (n: number): Person => {
  const first = firstName(scatter(n, 1))
  const last = [2, 3, 4].map((salt) => syllable(scatter(n, salt))).join('')
  const email = `${first}.${last}${scatter(n, 5) % 1000}.${n}@${domain(scatter(n, 6))}`
  return { email, username: `${first.slice(0, 6)}${last.slice(0, 4)}${n.toString(36)}`, name: `${first} ${last}` }
}

const FIRST_AT_MS = Date.now() - 400 * 86_400_000

/** One in ten thousand is disabled, one in a thousand unverified, one in two thousand was never seen. */
const rowAt = (n: number): (string | number | null)[] => {
  const { email, username, name } = personAt(n)
  const atMs = FIRST_AT_MS + n * 30
  const id = `${Math.floor(atMs / 65_536)
    .toString(16)
    .padStart(8, '0')}-${(atMs & 65_535).toString(16).padStart(4, '0')}-7000-8000-${n.toString(16).padStart(12, '0')}`
  const hash = '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  const roles = n % 5000 === 4 ? '["editor"]' : '[]'
  const [verified, seen] = [n % 1000 === 2 ? null : atMs, n % 2000 === 3 ? null : atMs]
  return [id, email, email, username, name, name, hash, roles, n % 10_000 === 1 ? 1 : 0, atMs, verified, n, atMs, seen]
}

const COLUMNS =
  'id, email, email_lower, username, name, name_lower, password_hash, roles, disabled, created_at, email_verified_at, position, updated_at, first_session_at'

const COUNTER = `INSERT INTO installation (name, value) VALUES ('last user position',`

/** Fills a database of svc that has no users. */
export const addPeopleToSqlite = (file: string, count: number): void => {
  const connection = new DatabaseSync(file)
  connection.exec('PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; BEGIN')
  const insert = connection.prepare(`INSERT INTO users (${COLUMNS}) VALUES (${COLUMNS.replace(/\w+/g, '?')})`)
  for (let n = 1; n <= count; n += 1) insert.run(...rowAt(n))
  connection.exec(`${COUNTER} '${count}'); COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`)
  connection.close()
}

const AT_ONCE = 2000

export const addPeopleToPostgres = async (url: string, count: number): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (let from = 1; from <= count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count + 1 - from) }, (_, at) => rowAt(from + at))
    const values = rows.map((row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join(', ')})`)
    await client.query(`INSERT INTO users (${COLUMNS}) VALUES ${values.join(', ')}`, rows.flat())
  }
  await client.query(`${COUNTER} '${count}')`)
  await client.query('VACUUM ANALYZE users')
  await client.end()
}
