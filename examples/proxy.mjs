// A proxy for development: `node proxy.mjs` serves svc and an application as one origin, http://localhost:8000.
import { createServer, request } from 'node:http'

const { PROXY_PORT = 8000, SVC_PORT = 8080, PORT = 3000 } = process.env
// Clients of svc look for it at two addresses of the site, too.
const OF_SVC = /^\/(?:auth(?:[/?]|$)|\.well-known\/(?:oauth-authorization-server|openid-configuration)\/auth(?:\?|$))/
const portOf = (url) => (OF_SVC.test(url) ? SVC_PORT : PORT)
const isWebSocket = ({ headers: { upgrade = '' } }) => upgrade.toLowerCase() === 'websocket'

const pass = ({ method, headers, url: path }) =>
  request({ host: '127.0.0.1', port: portOf(path), method, headers, path })

const headOf = ({ statusCode, statusMessage, rawHeaders }) => {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 ? [] : [`${name}: ${rawHeaders[index + 1]}`]))
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n')
}

const server = createServer((incoming, outgoing) => {
  const passed = pass(incoming)
  passed.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders)
    answer.pipe(outgoing)
  })
  passed.on('error', (error) =>
    outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(503).end(error.message),
  )
  incoming.pipe(passed)
})

// Reloading on change needs WebSockets.
server.on('upgrade', (incoming, socket, head) => {
  socket.on('error', () => socket.destroy())
  if (!isWebSocket(incoming)) {
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    return
  }
  const passed = pass(incoming)
  passed.on('upgrade', (answer, other, rest) => {
    other.on('error', () => socket.destroy())
    socket.on('close', () => other.destroy())
    socket.write(headOf(answer))
    socket.write(rest)
    other.write(head)
    other.pipe(socket).pipe(other)
  })
  passed.on('response', (answer) => {
    socket.write(headOf(answer))
    answer.pipe(socket)
  })
  passed.on('error', () => socket.destroy())
  passed.end()
})

server.listen(PROXY_PORT, '127.0.0.1', () => console.log(`http://localhost:${PROXY_PORT}`))
