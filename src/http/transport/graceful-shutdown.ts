import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** An accepted connection may take this long to bring its first request; a browser may open one and send nothing. */
const FIRST_REQUEST_MS = 1000
const ACCEPT_WAITING_MS = 1000
/** If no new connection comes for this long, the queue of the system is empty. */
const NO_CONNECTION_MS = 50
const POLL_EVERY_MS = 5
/** A proxy that opens a connection for each request has opened one within this time if it sends any at all. */
const IDLE_AFTER_MS = 10_000

/** Stops a server without losing a request: first `drain`, then `close`. */
export interface GracefulShutdown {
  /**
   * Serves one more request on each connection for `drainMs`, and closes it with the response. Then it accepts no more
   * connections, and waits for the first requests of the connections that were accepted last. It returns at once if
   * there are no clients.
   */
  drain: (drainMs: number) => Promise<void>
  /** Resolves when all requests under way have ended, or were cut off after `patienceMs`. */
  close: (patienceMs: number) => Promise<void>
}

export const createGracefulShutdown = (server: HttpServer): GracefulShutdown => {
  let lastAcceptedMs = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    lastAcceptedMs = performance.now()
  })

  const cutOff = (): void => server.closeAllConnections()

  const isInUse = async (): Promise<boolean> =>
    performance.now() - lastAcceptedMs < IDLE_AFTER_MS || (await countConnections(server)) > 0

  return {
    async drain(drainMs) {
      if (!(await isInUse())) return
      const silent = watchSilent(server)
      await setTimeout(drainMs)
      // This order matters: a request that is still in the queue of the system when the socket closes is reset and
      // lost.
      closeQueue(server)
      await acceptWaiting(server)
      await closeAfterNextConnection(server)
      await emptied(silent, FIRST_REQUEST_MS)
    },

    async close(patienceMs) {
      const timer = globalThis.setTimeout(cutOff, patienceMs)
      // `drain` may have closed it to new connections already: then this waits for the open ones.
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(timer)
    },
  }
}

const countConnections = (server: HttpServer): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })

/** Watches the connections accepted from now on that have not brought a request yet. */
const watchSilent = (server: Server): ReadonlySet<Socket> => {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', (request: IncomingMessage) => silent.delete(request.socket))
  return silent
}

const emptied = async (set: ReadonlySet<unknown>, patienceMs: number): Promise<void> => {
  const deadlineMs = performance.now() + patienceMs
  while (set.size > 0 && performance.now() < deadlineMs) await setTimeout(POLL_EVERY_MS)
}

/**
 * Shrinks the queue of connections that wait to be accepted. The system resets waiting connections when a socket is
 * closed, and their requests are lost; a client that cannot enter the queue is refused, and tries another replica.
 *
 * Node has no public call for this. Its internal `_handle` has one, `listen`, which Linux applies to an open socket.
 * Where there is no such handle (in a later Node, or on a system that cannot change the queue) nothing happens.
 */
const closeQueue = (server: Server): void => {
  const { _handle: handle } = server as Server & { _handle?: { listen?: (backlog: number) => number } }
  handle?.listen?.(0)
}

/**
 * Stops accepting connections right after one was accepted: at that moment no other connection waits. If none comes
 * within a short time, none waits either.
 */
const closeAfterNextConnection = async (server: Server): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    clearTimeout(timer)
    server.off('connection', end)
    // This is not the `close` of `node:http`, which also ends connections that have no request yet, such as the one
    // just accepted.
    Server.prototype.close.call(server)
    resolve()
  }
  const timer = globalThis.setTimeout(end, NO_CONNECTION_MS)
  server.on('connection', end)
  await promise
}

/** Resolves after a turn of the event loop in which no connection was accepted: none waits any more. */
const acceptWaiting = async (server: Server): Promise<void> => {
  let accepted = 0
  const count = () => {
    accepted += 1
  }
  server.on('connection', count)
  const deadlineMs = performance.now() + ACCEPT_WAITING_MS
  for (let before = -1; before !== accepted && performance.now() < deadlineMs; ) {
    before = accepted
    await setImmediate()
  }
  server.off('connection', count)
}
