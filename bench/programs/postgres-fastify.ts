// The cost of the driver alone: Fastify with one route that makes one prepared query over a pool of connections.
import fastify from 'fastify'
import pg from 'pg'

interface Options {
  url: string
  size: number
  ids: string[]
}

const { url, size, ids } = JSON.parse(process.argv[2] ?? '') as Options
const pool = new pg.Pool({ connectionString: url, max: size })
const text = `SELECT users.id, email, username, roles, disabled, users.created_at FROM sessions
  JOIN users ON users.id = sessions.user_id WHERE sessions.id = $1`
let turn = 0

const app = fastify()
app.get('/auth/api/v1/user', async (_request, reply) => {
  const { rows } = await pool.query({ name: 'user', text, values: [ids[turn++ % ids.length]] })
  reply.header('content-type', 'application/json')
  return JSON.stringify({
    ...rows[0],
    roles: JSON.parse(rows[0].roles),
    created_at: new Date(Number(rows[0].created_at)),
  })
})
const listen = await app.listen({ port: 0, host: '127.0.0.1' })
process.stderr.write(`{"listen":"${listen}"}\n`)
process.once('SIGTERM', () => process.exit())
