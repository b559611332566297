import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

/** In which a connection that was just taken brings its first request; a browser may open one and send nothing. */
const FIRST_REQUEST_MS = 1000
const TAKE_WAITING_MS = 1000
const NOBODY_MS = 50
const POLL_EVERY_MS = 5
/** A proxy that opens a connection for each request has sent somebody within this time. */
const QUIET_MS = 10_000

/** Ends a server so that nobody loses a request by it. */
export const createGracefulShutdown = (server: HttpServer) => {
  let lastTakenMs = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    lastTakenMs = performance.now()
  })

  const cutOff = (): void => server.closeAllConnections()

  const isInUse = async (): Promise<boolean> =>
    performance.now() - lastTakenMs < QUIET_MS || (await promisify(server.getConnections.bind(server))()) > 0

  return {
    /**
     * Lets whoever has a connection use it once more, and learn that it was the last time; then takes no more
     * connections, and waits for the requests of those that were taken last.
     */
    async drain(drainMs: number): Promise<void> {
      if (!(await isInUse())) return
      const silent = watchSilent(server)
      await setTimeout(drainMs)
      closeQueue(server)
      await takeWaiting(server)
      await closeOnceTaken(server)
      await emptied(silent, FIRST_REQUEST_MS)
    },

    /** Resolves when what is under way has ended, or was cut off after so long. */
    async close(patienceMs: number): Promise<void> {
      const impatience = globalThis.setTimeout(cutOff, patienceMs)
      // It may have been closed to new connections before: then this waits for the ones that are open.
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(impatience)
    },
  }
}

/** The connections taken from now on that have not brought a request yet. */
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
  const impatientMs = performance.now() + patienceMs
  while (set.size > 0 && performance.now() < impatientMs) await setTimeout(POLL_EVERY_MS)
}

/**
 * Lets nobody more wait to be taken. The system resets who waits when a socket is closed, and what he has sent is lost;
 * who is not even let in tries again, is refused, and goes to another replica. On a system that cannot change the queue
 * of an open socket nothing happens.
 */
const closeQueue = (server: Server): void => {
  const { _handle: handle } = server as Server & { _handle?: { listen?: (backlog: number) => number } }
  handle?.listen?.(0)
}

/**
 * Takes no more connections, from the instant at which one has been taken: then nobody else is waiting. Where none
 * comes, nobody is either.
 */
const closeOnceTaken = async (server: Server): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    clearTimeout(nobody)
    server.off('connection', end)
    // Not that of `node:http`, which ends every connection that has no request yet, the newest above all.
    Server.prototype.close.call(server)
    resolve()
  }
  const nobody = globalThis.setTimeout(end, NOBODY_MS)
  server.on('connection', end)
  await promise
}

/** Resolves right after a turn of the event loop in which no connection waited to be taken. */
const takeWaiting = async (server: Server): Promise<void> => {
  let taken = 0
  const count = () => {
    taken += 1
  }
  server.on('connection', count)
  const impatientMs = performance.now() + TAKE_WAITING_MS
  for (let before = -1; before !== taken && performance.now() < impatientMs; ) {
    before = taken
    await setImmediate()
  }
  server.off('connection', count)
}
