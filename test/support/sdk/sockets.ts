import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createAdaptorServer, upgradeWebSocket, type WebSocketServerLike } from '@hono/node-server'
import { Hono } from 'hono'
import { Server as SocketIoServer } from 'socket.io'
import { io } from 'socket.io-client'
import { WebSocket, WebSocketServer } from 'ws'
import type { Auth, ClosableSocket, User } from '../../../sdk/src/server.ts'

/** A connection as its client sees it. */
export interface Connection {
  isOpen(): boolean
  /** Resolves to how it ended. */
  end: Promise<string>
  /** The client leaves. */
  leave(): void
}

/** Resolves to a connection of the user of these cookies, or to undefined where the server lets none in. */
export type Connect = (cookie: string) => Promise<Connection | undefined>

/** `hold` gets the socket of the server for each connection. */
type Start = (t: TestContext, auth: Auth, hold: (socket: ClosableSocket, user: User) => void) => Promise<Connect>

const listen = async (t: TestContext, server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const connectionOf = (socket: WebSocket): Connection => ({
  isOpen: () => socket.readyState === WebSocket.OPEN,
  end: new Promise((resolve) => {
    socket.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`))
  }),
  leave: () => socket.close(),
})

const connectTo =
  (port: number): Connect =>
  async (cookie) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers: { cookie } })
    const connection = connectionOf(socket)
    socket.on('error', () => {})
    await Promise.race([once(socket, 'open'), connection.end])
    return connection.isOpen() ? connection : undefined
  }

export const startWs: Start = async (t, auth, hold) => {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer().on('upgrade', async (request, socket, head) => {
    const user = await auth.getUser(request)
    if (user) sockets.handleUpgrade(request, socket, head, (webSocket) => hold(webSocket, user))
    else socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n')
  })
  return connectTo(await listen(t, server))
}

const startHono: Start = async (t, auth, hold) => {
  const app = new Hono<{ Variables: { user: User } }>()
  app.use(async (c, next) => {
    const user = await auth.getUser(c.req.raw)
    if (!user) return c.body(null, 401)
    c.set('user', user)
    return next()
  })
  app.get(
    '/live',
    upgradeWebSocket((c) => ({ onOpen: (_, socket) => hold(socket, c.get('user')) })),
  )
  // Its types and those of `ws` differ in what may be undefined.
  const websocket = { server: new WebSocketServer({ noServer: true }) as unknown as WebSocketServerLike }
  return connectTo(await listen(t, createAdaptorServer({ fetch: app.fetch, websocket }) as Server))
}

/** The socket that comes with the runtime. In Node, only clients have one, so the application is the client here. */
const startWeb: Start = async (t, auth, hold) => {
  const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(sockets, 'listening')
  t.after(() => sockets.close())
  const { port } = sockets.address() as AddressInfo
  return async (cookie) => {
    const user = await auth.getUser(new Request('http://127.0.0.1', { headers: { cookie } }))
    if (!user) return undefined
    const socket = new globalThis.WebSocket(`ws://127.0.0.1:${port}`)
    const [[other]] = await Promise.all([once(sockets, 'connection'), once(socket, 'open')])
    hold(socket, user)
    return connectionOf(other as WebSocket)
  }
}

const startSocketIo =
  (transport: 'websocket' | 'polling'): Start =>
  async (t, auth, hold) => {
    const server = createServer()
    const sockets = new SocketIoServer(server, { serveClient: false })
    sockets.use(async (socket, next) => {
      const user = await auth.getUser(socket.request)
      socket.data.user = user
      next(user ? undefined : new Error('unauthorized'))
    })
    sockets.on('connection', (socket) => {
      // By polls, it would wait for its client for half a minute.
      Object.assign(socket.conn.transport, { closeTimeout: 1 })
      hold(socket, socket.data.user)
    })
    const port = await listen(t, server)
    t.after(() => sockets.disconnectSockets(true))
    return async (cookie) => {
      const options = { extraHeaders: { cookie }, transports: [transport], forceNew: true }
      const socket = io(`http://127.0.0.1:${port}`, options)
      t.after(() => socket.disconnect())
      const end = new Promise<string>((resolve) => {
        socket.on('disconnect', resolve)
        socket.on('connect_error', ({ message }) => resolve(message))
      })
      await Promise.race([new Promise<void>((resolve) => socket.on('connect', resolve)), end])
      return socket.connected ? { isOpen: () => socket.connected, end, leave: () => socket.disconnect() } : undefined
    }
  }

const CODE = '4401 session ended'

/** Servers of connections that last, and how a client sees that its session has ended. */
export const SOCKET_SERVERS: Record<string, { start: Start; end: string }> = {
  ws: { start: startWs, end: CODE },
  Hono: { start: startHono, end: CODE },
  'a Web socket': { start: startWeb, end: CODE },
  'Socket.IO': { start: startSocketIo('websocket'), end: 'io server disconnect' },
  'Socket.IO by polling': { start: startSocketIo('polling'), end: 'io server disconnect' },
}
