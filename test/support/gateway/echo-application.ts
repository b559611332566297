import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterwards } from '../cleanup.ts'

/** The requests that the application behind a gateway has received. */
export type Echo = {
  application: true
  method: string
  target: string
  /** As they came: name, value, name, value. */
  headers: string[]
  body: string
}

/** Starts an application that responds with the request it received. It ends with the file. Resolves to its port. */
export const startEchoApplication = async (): Promise<number> => {
  const server = createServer((request, response) => {
    const { method = '', url: target = '', rawHeaders: headers } = request
    let body = ''
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => {
        const echo: Echo = { application: true, method, target, headers, body }
        response.end(JSON.stringify(echo))
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(undefined, () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the application has no port')
  return address.port
}
