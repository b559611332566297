// The cost of the web framework alone: Fastify with one route and one constant response.
import fastify from 'fastify'
import type { ConstantResponse } from '../support/servers.ts'

const { status, headers, body, keepAliveTimeoutS } = JSON.parse(process.argv[2] ?? '') as ConstantResponse
const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []))
const app = fastify({ keepAliveTimeout: keepAliveTimeoutS * 1000 })
app.get('/auth/api/v1/user', (_request, reply) => {
  reply.code(status)
  for (const [name, value] of pairs) reply.header(name, value)
  return reply.send(body)
})
const listen = await app.listen({ port: 0, host: '127.0.0.1' })
process.stderr.write(`{"listen":"${listen}"}\n`)
process.once('SIGTERM', () => process.exit())
