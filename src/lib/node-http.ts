import type { Server, Socket } from 'node:net'

/**
 * The service uses these parts of `node:http`. An `import` of it reads every export, which also loads Node's `fetch`
 * and `WebSocket`: 25 ms of each start, and 7 MB for as long as the process runs.
 */
export const { createServer, get, request, STATUS_CODES } = process.getBuiltinModule('node:http')

/**
 * Keeps errors of a connection from ending the process. Node reports an error without a listener as an uncaught
 * exception, and its HTTP server removes its own listener when it hands over a connection (`CONNECT`, `Upgrade`).
 */
export const ignoreSocketErrors = (server: Server): void => {
  server.on('connection', (socket: Socket) => socket.on('error', ignore))
}

/** Does nothing: the connection is closed, and its `close` event ends the work for it. */
const ignore = (): void => {}
