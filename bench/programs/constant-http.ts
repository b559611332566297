// The baseline of most benchmarks: `node:http` with one constant response.
import { createServer } from 'node:http'
import type { ConstantResponse } from '../support/servers.ts'

const { status, headers, body, keepAliveTimeoutS } = JSON.parse(process.argv[2] ?? '') as ConstantResponse
const server = createServer((_request, response) => {
  response.writeHead(status, headers)
  response.end(body)
})
server.keepAliveTimeout = keepAliveTimeoutS * 1000
server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stderr.write(`{"listen":"http://127.0.0.1:${address?.port}"}\n`)
})
process.once('SIGTERM', () => process.exit())
