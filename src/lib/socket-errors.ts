import type { Server, Socket } from 'node:net'

/**
 * Keeps errors of single connections away from the process. Node reports an error without a listener as an uncaught
 * exception, and its HTTP server takes its own listener away where it hands a connection over (`CONNECT`, `Upgrade`).
 */
export const containSocketErrors = (server: Server): void => {
  server.on('connection', (socket: Socket) => socket.on('error', ignore))
}

/** The connection is closed by then; what it was asked for ends by its `close` event. */
const ignore = (): void => {}
