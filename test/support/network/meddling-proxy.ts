import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

/** What a proxy does to headers on their way. Where it throws, the connection is cut. */
export type Meddling = {
  request?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  response?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
}

const unchanged = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => headers

const tryTo = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Starts a proxy in front of a port, which changes headers as told. It ends with the test. Resolves to its port. */
export const startMeddlingProxy = async (t: TestContext, port: number, meddling: Meddling): Promise<number> => {
  const { request: changeRequest = unchanged, response: changeResponse = unchanged } = meddling
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const sent = tryTo(() => changeRequest(headers))
    if (sent === undefined) {
      incoming.destroy()
      return
    }
    const passed = request({ host: '127.0.0.1', port, method, path, headers: sent }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 0, changeResponse(answered.headers))
      answered.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(t, () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address.port
}
