// The cost of the driver alone: `node:http`, with one prepared query over a pool of connections. GET reads the row of a
// session and its user, POST writes what a refresh writes. Neither decides anything.
import { createServer, type ServerResponse } from 'node:http'
import pg from 'pg'
import type { ConstantResponse, PostgresServerOptions } from '../support/servers.ts'

const options = JSON.parse(process.argv[2] ?? '') as PostgresServerOptions
const { url, size, ids } = options
const pool = new pg.Pool({ connectionString: url, max: size })
let turn = 0
const nextId = (): string | undefined => ids[turn++ % ids.length]

const SELECT = `SELECT users.id, email, username, roles, disabled, users.created_at FROM sessions
  JOIN users ON users.id = sessions.user_id WHERE sessions.id = $1`

const UPDATE = `UPDATE sessions SET generation = $1, replaced_at = $2, last_seen_at = $3, expires_at = $4,
  user_agent = $5, address = $6 WHERE id = $7`

const readUser = async (): Promise<string> => {
  const { rows } = await pool.query({ name: 'user', text: SELECT, values: [nextId()] })
  const { created_at: createdAt, roles, disabled, ...row } = rows[0]
  return JSON.stringify({
    ...row,
    roles: JSON.parse(roles),
    disabled: disabled === 1,
    created_at: new Date(Number(createdAt)),
  })
}

const writeSession = async (): Promise<string> => {
  const nowMs = Date.now()
  const values = [turn, JSON.stringify([nowMs]), nowMs, nowMs + 86_400_000, '', '127.0.0.1', nextId()]
  await pool.query({ name: 'refresh', text: UPDATE, values })
  return ''
}

/** Bodies have different lengths, as users have different names. */
const send = (response: ServerResponse, { status, headers }: ConstantResponse, body: string): void => {
  const at = headers.indexOf('content-length') + 1
  response.writeHead(status, headers.with(at, String(Buffer.byteLength(body))))
  response.end(body)
}

const server = createServer((request, response) => {
  if (request.method === 'GET') void readUser().then((body) => send(response, options.user, body))
  else void writeSession().then((body) => send(response, options.refresh, body))
})
server.keepAliveTimeout = options.user.keepAliveTimeoutS * 1000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stderr.write(`{"listen":"http://127.0.0.1:${address?.port}"}\n`)
})
process.once('SIGTERM', () => process.exit())
