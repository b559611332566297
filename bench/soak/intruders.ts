import { randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { PASSWORD, postForm } from '../support/users.ts'

const HOST = 'Host: localhost\r\n'
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'
const CSRF = new Map([['svc_csrf', 'x'.repeat(43)]])

/** Requests that are refused, each in another part of the service. */
const REFUSED: readonly string[] = [
  'nonsense\r\n\r\n',
  `GET /auth/api/v1/user HTTP/1.1\r\n${HOST}Cookie: svc_access=${'a.'.repeat(400)}\r\n\r\n`,
  `GET /auth/login HTTP/1.1\r\n${HOST}${`X-Much: ${'x'.repeat(900)}\r\n`.repeat(20)}\r\n`,
  `GET /auth/%00 HTTP/1.1\r\n${HOST}\r\n`,
  `GET /auth/login?return_to=%2F%2Fevil.example HTTP/1.1\r\n${HOST}\r\n`,
  `POST /auth/login HTTP/1.1\r\n${HOST}${FORM}Content-Length: 8\r\n\r\nemail=%f`,
  `POST /auth/login HTTP/1.1\r\n${HOST}${FORM}Content-Length: 99999\r\n\r\n`,
  `POST /auth/api/v1/sessions/refresh?audience=app HTTP/1.1\r\n${HOST}Cookie: svc_refresh=x.y.z\r\nContent-Length: 0\r\n\r\n`,
  `GET /auth/api/v2/users HTTP/1.1\r\n${HOST}Authorization: Bearer svc_wrong\r\n\r\n`,
  `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`,
  postForm('/auth/login', CSRF, { email: 'nobody@example.com', password: PASSWORD }).replace('HTTP/1.1', 'HTTP/1.2'),
]

/** Connections that bring no request, or not the whole of one, and how often they send one byte more. */
const SLOW: readonly { bytes: string; dripMs?: number }[] = [
  { bytes: '' },
  { bytes: `GET /auth/health HTTP/1.1\r\n${HOST}X-Slow: `, dripMs: 500 },
  { bytes: `POST /auth/login HTTP/1.1\r\n${HOST}${FORM}Content-Length: 5000\r\n\r\nemail=`, dripMs: 500 },
]

/** The first line of what the service answers; empty when it closes the connection without an answer. */
const ask = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(10_000, () => socket.destroy())
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
      if (answer.includes('\r\n')) socket.destroy()
    })
    socket.on('error', () => {}).once('close', () => resolve(answer.split('\r\n', 1)[0] ?? ''))
  })

/** Opens a slow connection, which stays for as long as the service lets it, or until it is destroyed. */
const hold = (port: number): Socket => {
  const { bytes, dripMs } = SLOW[randomInt(SLOW.length)] ?? { bytes: '' }
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  const drip = dripMs === undefined ? undefined : setInterval(() => socket.write('x'), dripMs)
  socket.on('error', () => {}).once('close', () => clearInterval(drip))
  return socket.resume()
}

interface IntrudersOptions {
  port: number
  /** Slow connections that are open at any time. */
  slow: number
  durationMs: number
  onFailure: (message: string) => void
}

const ASK_EVERY_MS = 250

/** Sends requests that are refused, and holds slow connections. Any other answer than a refusal is a failure. */
export const intrude = async ({ port, slow, durationMs, onFailure }: IntrudersOptions): Promise<number> => {
  const held: Socket[] = []
  const endsMs = performance.now() + durationMs
  let asked = 0
  for (; performance.now() < endsMs; asked++) {
    while (held.length < slow) held.push(hold(port))
    const bytes = REFUSED[asked % REFUSED.length] ?? ''
    const answer = await ask(port, bytes)
    if (!/^HTTP\/1\.1 4\d\d /.test(answer)) onFailure(`"${bytes.slice(0, 60)}…" was answered "${answer}"`)
    await wait(Math.min(ASK_EVERY_MS, Math.max(0, endsMs - performance.now())))
    // The oldest leaves in the middle of its request.
    held.shift()?.destroy()
  }
  for (const socket of held) socket.destroy()
  return asked
}
