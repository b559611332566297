import { createHash } from 'node:crypto'
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
  /** Fields behind the body. */
  trailers: string[]
}

/**
 * Starts an application that responds with the request it received. It takes every Upgrade that reaches it (101), and
 * sends back what comes then. It ends with the file. Resolves to its port.
 */
export const startEchoApplication = async (): Promise<number> => {
  const server = createServer((request, response) => {
    const { method = '', url: target = '', rawHeaders: headers } = request
    let body = ''
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => {
        const echo: Echo = { application: true, method, target, headers, body, trailers: request.rawTrailers }
        response.end(JSON.stringify(echo))
      })
  })
  server.on('upgrade', ({ headers }, socket) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    const lines = ['Connection: Upgrade', `Upgrade: ${headers.upgrade}`, `Sec-WebSocket-Accept: ${accept}`]
    socket.on('error', () => {})
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.pipe(socket)
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
