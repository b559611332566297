import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError } from '../lib/errors.ts'
import { createServer, ignoreSocketErrors } from '../lib/node-http.ts'

interface FrontDeps {
  port: number
  /** It is listened on beside the addresses of this machine alone. */
  listen: string | undefined
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void
  onUpgrade: (incoming: IncomingMessage, socket: Socket, head: Buffer) => void
}

/** The door of `svc dev`: one port on each address of `localhost`. */
export interface Front {
  port: number
  /** Closes the port and every connection. */
  close(): void
}

const LOOPBACK = ['127.0.0.1', '::1']

/** An address that stands for all stands for the loopback address of its kind too. */
const addressesFor = (listen: string | undefined): string[] => {
  if (listen === undefined) return LOOPBACK
  if (listen === '::') return ['::']
  return [...new Set([...LOOPBACK.filter((each) => listen !== '0.0.0.0' || each === '::1'), listen])]
}

/** The machine has no such address: IPv6 may be turned off. */
const MISSING = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']

const TRIES = 5

/** Throws `unavailable` if another program has the port; for port 0 it looks for one that is free everywhere. */
export const openFront = async (deps: FrontDeps, triesLeft = TRIES): Promise<Front> => {
  const servers: Server[] = []
  const close = (): void => {
    for (const server of servers) server.close().closeAllConnections()
  }
  let { port } = deps
  for (const host of addressesFor(deps.listen)) {
    const server = newServer(deps)
    try {
      await once(server.listen({ host, port }), 'listening')
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (MISSING.includes(code) && host !== deps.listen) continue
      close()
      if (code === 'EADDRINUSE' && deps.port === 0 && triesLeft > 1) return openFront(deps, triesLeft - 1)
      throw listenError(code, host, port)
    }
    servers.push(server)
    ;({ port } = server.address() as AddressInfo)
  }
  return { port, close }
}

const listenError = (code: string, host: string, port: number): AppError =>
  code === 'EADDRINUSE'
    ? new AppError('unavailable', `Port ${port} on ${host} is taken by another program: --port 0 takes a free one.`)
    : new AppError('unavailable', `Cannot listen on ${host} port ${port} (${code}).`)

const newServer = ({ onRequest, onUpgrade }: FrontDeps): Server => {
  // An upload to the application may take its time.
  const server = createServer({ requestTimeout: 0 }, onRequest)
  ignoreSocketErrors(server)
  server.on('upgrade', onUpgrade)
  server.on('connect', (_: IncomingMessage, socket: Socket) => socket.destroy())
  return server
}
