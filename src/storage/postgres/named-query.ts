import { hash } from 'node:crypto'
import pg from 'pg'
import type { Value } from '../database.ts'

/** Each connection prepares the statement once, under its name. */
export interface NamedStatement {
  name: string
  text: string
  values: (Value | Value[])[]
}

export interface NamedResult<Row> {
  rows: Row[]
  rowCount: number
}

export type Prepare = (sql: string, values: NamedStatement['values']) => NamedStatement

/** `now()` would be the start of the transaction, which may be older than the rows that the statement reads. */
const SERVER_TIME = 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)'

/**
 * Gives each statement a name, so that a connection parses it once. The name is a hash of the text: processes that
 * share a connection behind a pooler must never use one name for two statements.
 */
export const createNamedStatements = (): Prepare => {
  const prepared = new Map<string, Pick<NamedStatement, 'name' | 'text'>>()
  return (sql, values) => {
    let statement = prepared.get(sql)
    if (!statement) {
      let count = 0
      const text = sql.replaceAll('server_time()', SERVER_TIME).replaceAll('?', () => `$${++count}`)
      statement = { name: statementName(text), text }
      prepared.set(sql, statement)
    }
    return { ...statement, values }
  }
}

const statementName = (text: string): string => `svc_${hash('sha256', text, 'base64url').slice(0, 22)}`

/** `pg` hands this connection to a query that is not its own. */
interface Connection {
  stream: { cork(): void; uncork(): void }
  /** These are the texts of the statements that the server has prepared on this connection, by name. */
  parsedStatements: Record<string, string>
  parse(statement: { name: string; text: string }): void
  bind(portal: { statement: string; values: (string | null)[] }): void
  describe(what: { type: 'P' }): void
  execute(portal: object): void
  sync(): void
}

interface Column {
  name: string
  parse: (text: string) => unknown
}

/** Runs a named statement; rejects with the driver's error, also after this time. */
export const sendNamed = <Row>(
  client: pg.ClientBase,
  statement: NamedStatement,
  timeoutMs: number,
): Promise<NamedResult<Row>> =>
  new Promise((resolve, reject) => {
    const callback = (error: Error | null, result?: NamedResult<Row>): void =>
      result ? resolve(result) : reject(error ?? new Error('a query without a result'))
    client.query(new NamedQuery<Row>(statement, timeoutMs, callback))
  })

/** These are the columns of each statement. A server refuses to run a prepared statement whose columns have changed. */
const described = new WeakMap<Connection, Map<string, Column[]>>()

/**
 * This is a query for `client.query` of `pg`, which calls its methods. Unlike the query of `pg`, it has the columns
 * described once for each connection, and not with each result: that costs more than reading a row
 * (docs/decisions/028-own-code.md).
 */
class NamedQuery<Row> implements pg.Submittable {
  readonly name: string
  readonly text: string
  readonly query_timeout: number
  callback: (error: Error | null, result?: NamedResult<Row>) => void
  readonly #values: (string | null)[]
  readonly #rows: Row[] = []
  #rowCount = 0
  #known = new Map<string, Column[]>()

  constructor({ name, text, values }: NamedStatement, timeoutMs: number, callback: NamedQuery<Row>['callback']) {
    this.name = name
    this.text = text
    this.query_timeout = timeoutMs
    this.callback = callback
    this.#values = values.map(toText)
  }

  submit(given: pg.Connection): void {
    const connection = given as unknown as Connection
    this.#known = described.get(connection) ?? this.#known
    described.set(connection, this.#known)
    connection.stream.cork()
    if (connection.parsedStatements[this.name] === undefined) connection.parse({ name: this.name, text: this.text })
    connection.bind({ statement: this.name, values: this.#values })
    if (!this.#known.has(this.name)) connection.describe({ type: 'P' })
    connection.execute({})
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#known.set(this.name, fields.map(toColumn))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    let place = 0
    for (const { name, parse } of this.#known.get(this.name) ?? []) {
      const text = fields[place++] ?? null
      row[name] = text === null ? null : parse(text)
    }
    this.#rows.push(row as Row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    // The text is `UPDATE 3`, for example; a statement that has no count has changed nothing.
    this.#rowCount = Number(/\d+$/.exec(text)?.[0] ?? 0)
    if (!this.#known.has(this.name)) this.#known.set(this.name, [])
  }

  handleReadyForQuery(): void {
    this.callback(null, { rows: this.#rows, rowCount: this.#rowCount })
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}

const INT8: number = pg.types.builtins.INT8

/** All of svc's `int8` are counts and times, below 2^53. */
const toColumn = ({ name, dataTypeID }: pg.FieldDef): Column => ({
  name,
  parse: dataTypeID === INT8 ? Number : pg.types.getTypeParser(dataTypeID, 'text'),
})

const toText = (value: Value | Value[]): string | null => {
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`
  return value === null ? null : String(value)
}

/** Quotes an element of an array (PostgreSQL, section 8.15.6). */
const toElement = (value: Value): string => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)
