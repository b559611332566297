import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Sends responses that Node cannot hand over as a request in their turn. A client takes the responses of a connection
 * for those to its requests, in their order (RFC 9112 section 9.3.2), and earlier requests may still be under way.
 */
interface ResponseOrder {
  /**
   * This is called for every request, with its response. If it returns false, the response before it closes the
   * connection, and later requests must not be processed (RFC 9112 section 9.6): nobody would get their response.
   */
  note: (response: ServerResponse) => boolean
  /**
   * Runs `send` after all responses of the connection so far. `isAnswered` says that the unreadable part is the body of
   * a request that was answered without it: a second response would pass for that to the next request.
   */
  afterEarlier: (socket: Duplex, send: (isAnswered: boolean) => void) => void
}

export const createResponseOrder = (): ResponseOrder => {
  const lastResponses = new WeakMap<Duplex, ServerResponse>()
  return {
    note(response) {
      const { socket } = response.req
      if (lastResponses.get(socket)?.shouldKeepAlive === false) return false
      lastResponses.set(socket, response)
      return true
    },
    afterEarlier(socket, send) {
      const last = lastResponses.get(socket)
      if (!last) return send(false)
      const hasWholeRequest = last.req.complete
      const isAnswered = !hasWholeRequest && last.headersSent
      const goOn = (): void => send(isAnswered)
      if (last.closed) return goOn()
      if (hasWholeRequest || isAnswered) last.once('close', goOn)
      // The handler waits for the body, and never answers: this is the response, once it has the socket.
      else if (last.socket) goOn()
      else last.once('socket', goOn)
    },
  }
}
