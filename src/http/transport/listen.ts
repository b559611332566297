import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Where to listen. */
export interface Place {
  host: string
  port: number
  reusePort?: boolean
}

/**
 * Listens, and resolves to the address as a URL. `localhost` is all of its addresses: those beyond the first hand their
 * connections to the same server, whose limits and care hold for them too.
 */
export const listen = async (server: Server, place: Place): Promise<string> => {
  if (place.host !== 'localhost') return listenAt(server, place)
  const [first = '127.0.0.1', ...others] = (await lookup('localhost', { all: true })).map(({ address }) => address)
  const url = await listenAt(server, { ...place, host: first })
  await Promise.all(others.map((host) => listenBeside(server, { ...place, host })))
  return url
}

const listenAt = async (server: Server, place: Place): Promise<string> => {
  await once(server.listen(place), 'listening')
  const { address, port } = server.address() as AddressInfo
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** A system may name an address that it does not have, such as one of IPv6 that is turned off: then it is left out. */
const listenBeside = async (server: Server, place: Place): Promise<void> => {
  const beside = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  beside.maxConnections = server.maxConnections
  beside.on('drop', () => server.emit('drop'))
  server.once('close', () => beside.close())
  await once(beside.listen(place), 'listening').catch(() => beside.close())
}
