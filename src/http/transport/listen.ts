import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

interface ListenAddress {
  host: string
  port: number
}

/**
 * The system may hold this many connections until they are accepted, if it allows as many (`net.core.somaxconn`).
 * Beyond them, it drops the first packet of a client, which sends it again after a second.
 */
const BACKLOG = 4096

/**
 * Listens, and resolves to the address as a URL. It listens on all addresses of `localhost`. Sockets beyond the first
 * hand their connections to the same server, whose limits and handlers apply to them too.
 */
export const listen = async (server: Server, options: ListenAddress): Promise<string> => {
  if (options.host !== 'localhost') return listenAt(server, options)
  const [first = '127.0.0.1', ...others] = (await lookup('localhost', { all: true })).map(({ address }) => address)
  const url = await listenAt(server, { ...options, host: first })
  await Promise.all(others.map((host) => listenBeside(server, { ...options, host })))
  return url
}

const listenAt = async (server: Server, options: ListenAddress): Promise<string> => {
  await once(server.listen({ backlog: BACKLOG, ...options }), 'listening')
  const { address, port } = server.address() as AddressInfo
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** An address that the machine does not have is left out: `localhost` may resolve to IPv6 where that is turned off. */
const listenBeside = async (server: Server, options: ListenAddress): Promise<void> => {
  const beside = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  beside.maxConnections = server.maxConnections
  beside.on('drop', () => server.emit('drop'))
  server.once('close', () => beside.close())
  await once(beside.listen({ backlog: BACKLOG, ...options }), 'listening').catch(() => beside.close())
}
