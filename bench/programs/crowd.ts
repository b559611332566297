// Holds connections that bring no request, or not the whole of one, or that read no response. Sent `{ port, count }`, it
// opens them, replaces those that the server closes, and answers with how many are open; sent `null`, it closes all.
import { connect, type Socket } from 'node:net'

const HOST = 'Host: localhost\r\n'
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'
const DRIP_EVERY_MS = 5000

/** What a connection sends at first, and whether a byte more from time to time, and whether it reads. */
const KINDS: readonly { bytes: string; drips: boolean; reads: boolean }[] = [
  { bytes: '', drips: false, reads: true },
  { bytes: `GET /auth/health HTTP/1.1\r\n${HOST}\r\n`, drips: false, reads: true },
  { bytes: `GET /auth/health HTTP/1.1\r\n${HOST}X-Slow: `, drips: true, reads: true },
  { bytes: `POST /auth/login HTTP/1.1\r\n${HOST}${FORM}Content-Length: 5000\r\n\r\nemail=`, drips: true, reads: true },
  { bytes: `GET /auth/login HTTP/1.1\r\n${HOST}\r\n`, drips: false, reads: false },
]

const AT_ONCE = 250
const OPEN_EVERY_MS = 50

const sockets = new Set<Socket>()
let opening: NodeJS.Timeout | undefined
let opened = 0
let closed = 0

const open = (port: number): void => {
  const { bytes, drips, reads } = KINDS[opened++ % KINDS.length] ?? { bytes: '', drips: false, reads: true }
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  sockets.add(socket)
  if (reads) socket.resume()
  const drip = drips ? setInterval(() => socket.write('x'), DRIP_EVERY_MS) : undefined
  socket
    .on('error', () => {})
    .once('close', () => {
      clearInterval(drip)
      closed += 1
      sockets.delete(socket)
    })
}

const hold = (port: number, count: number): void => {
  const fill = (): void => {
    for (let added = 0; sockets.size < count && added < AT_ONCE; added++) open(port)
  }
  opening = setInterval(fill, OPEN_EVERY_MS)
}

const isOpen = ({ readyState }: Socket): boolean => readyState === 'open'

process.on('message', (message: { port: number; count: number } | 'count' | null) => {
  if (message === null) {
    clearInterval(opening)
    for (const socket of sockets) socket.destroy()
  } else if (message !== 'count') hold(message.port, message.count)
  process.send?.({ open: [...sockets].filter(isOpen).length, closed })
})
