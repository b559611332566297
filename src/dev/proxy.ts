import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createProxyServer } from 'httpxy'

export interface AppProxy {
  /** Passes a request on; resolves to the problem if the application does not answer. */
  pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Error | undefined>
  /** Passes a WebSocket on; it is closed if the application does not answer. */
  upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void
}

/** What a client says about itself, a proxy says better. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'forwarded']

/** What is about a connection of the proxy is not about that of the browser (RFC 9110 section 7.6.1). */
const OF_CONNECTION = ['connection', 'keep-alive']

const withoutForwarded = (incoming: IncomingMessage): IncomingMessage => {
  for (const name of FORWARDED) delete incoming.headers[name]
  return incoming
}

/**
 * Passes requests on to the application, streams and WebSockets included. `Host` stays that of the browser, so that the
 * application sees the one origin. Each request has a connection of its own: a server that restarts on change closes
 * those that it has kept.
 */
export const createAppProxy = (app: string): AppProxy => {
  const { protocol, hostname, port } = new URL(app)
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port }
  // On this machine, TLS protects nothing, and certificates are self-made.
  const proxy = createProxyServer({ target, xfwd: true, agent: false, secure: false })
  proxy.on('proxyRes', ({ headers }) => {
    for (const name of OF_CONNECTION) delete headers[name]
  })
  return {
    pass: (incoming, outgoing) =>
      proxy.web(withoutForwarded(incoming), outgoing).then(
        () => undefined,
        (error: Error) => error,
      ),
    upgrade(incoming, socket, head) {
      proxy.ws(withoutForwarded(incoming), socket, {}, head).catch(() => socket.destroy())
    },
  }
}
