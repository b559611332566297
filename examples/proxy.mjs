// A proxy for development: `node proxy.mjs` serves svc and an application as one origin, http://localhost:8000.
import { createServer, request } from 'node:http'

const { PROXY_PORT = 8000, SVC_PORT = 8080, PORT = 3000 } = process.env
const portOf = (url) => (/^\/auth(?:[/?]|$)/.test(url) ? SVC_PORT : PORT)

createServer((incoming, outgoing) => {
  const { method, headers, url: path } = incoming
  const passed = request({ host: '127.0.0.1', port: portOf(path), method, headers, path }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders)
    answer.pipe(outgoing)
  })
  passed.on('error', (error) =>
    outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(503).end(error.message),
  )
  incoming.pipe(passed)
}).listen(PROXY_PORT, '127.0.0.1', () => console.log(`http://localhost:${PROXY_PORT}`))
