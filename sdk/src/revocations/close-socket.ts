import type { SessionIdentity } from './watches.ts'

/** A WebSocket of `ws` or of the runtime, the context that Hono has of one, or a socket of Socket.IO. */
export type ClosableSocket =
  | { close(code?: number, reason?: string): unknown }
  | { disconnect(close?: boolean): unknown }

/** What they may have besides. */
interface Socket {
  close?(code: number, reason: string): unknown
  disconnect?(close: boolean): unknown
  /** Of `ws`: ends the connection without a word. */
  terminate?(): unknown
  on?(event: string, listener: () => void): unknown
  addEventListener?(event: string, listener: () => void): unknown
  /** Hono: the socket itself. */
  raw?: Socket
  /** Socket.IO: the connection below. */
  conn?: { transport?: { socket?: Socket } }
  connected?: boolean
  readyState?: number
}

const CODE = 4401
const REASON = 'session ended'
/** A client that does not answer could go on sending. */
const TERMINATE_AFTER_MS = 1000

const closeWebSocket = (socket: Socket): void => {
  socket.close?.(CODE, REASON)
  const timer = setTimeout(() => socket.terminate?.(), TERMINATE_AFTER_MS)
  // It is a number outside Node.
  ;(timer as { unref?: () => void }).unref?.()
}

// A client of Socket.IO does not connect again when it is told that the server ends it. The code is on the WebSocket, if
// there is one; a connection by polls has none.
const closeSocketIo = (socket: Socket): void => {
  const below = socket.conn?.transport?.socket
  socket.disconnect?.(!below)
  if (below) closeWebSocket(below)
}

const isOpen = ({ connected, readyState }: Socket): boolean =>
  connected !== false && (readyState === undefined || readyState < 2)

const onClose = (socket: Socket, act: () => void): void => {
  if (socket.disconnect) socket.on?.('disconnect', act)
  else if (socket.addEventListener) socket.addEventListener('close', act)
  else socket.on?.('close', act)
}

type Watch = (session: SessionIdentity, end: () => void) => () => void

/** Closes a socket when its session ends. The returned function ends the watch, which the end of the socket does, too. */
export const closeWith = (watch: Watch, given: ClosableSocket, session: SessionIdentity): (() => void) => {
  const holder: Socket = given
  const socket = holder.raw ?? holder
  if (!socket.disconnect && !socket.close)
    throw new TypeError('closeOnSessionEnd takes a WebSocket or a socket of Socket.IO')
  const stop = watch(session, () => (socket.disconnect ? closeSocketIo(socket) : closeWebSocket(socket)))
  if (isOpen(socket)) onClose(socket, stop)
  else stop()
  return stop
}
