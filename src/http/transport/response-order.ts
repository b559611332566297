import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Sends what Node cannot hand over as a request in its turn: a client takes the responses of a connection for those to
 * its requests, in their order (RFC 9112 section 9.3.2), and requests before may still be under way.
 */
interface ResponseOrder {
  /**
   * Called for every request, with its response. False: the response before it closes the connection, and what comes
   * after must not be processed (RFC 9112 section 9.6): nobody would get its response.
   */
  note: (response: ServerResponse) => boolean
  /**
   * Runs `send` after all responses of the connection so far. `isAnswered`: what is unreadable is the body of a request
   * that was answered without it; a second response would pass for that to the next request.
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
      // Its handler waits for the body, and never answers: this is the response, once it has the socket.
      else if (last.socket) goOn()
      else last.once('socket', goOn)
    },
  }
}
