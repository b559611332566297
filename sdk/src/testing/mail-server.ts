import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Arrivals, createArrivals } from './arrivals.ts'
import { type Message, readMessage } from './message.ts'

export interface MailServer {
  /** The value of `SVC_SMTP_URL` that leads here. */
  url: string
  messages: Arrivals<Message>
  /** From now on it does not keep the process alive. */
  unref(): void
  stop(): void
}

/** The answers of a conversation (RFC 5321), which accepts every message. */
const converse = async (socket: Socket, accept: (message: Message) => void): Promise<void> => {
  const reply = (text: string) => void socket.write(`${text}\r\n`)
  let to: string[] = []
  let data: string[] | undefined
  reply('220 svc.test ESMTP')
  for await (const line of createInterface({ input: socket, crlfDelay: Infinity })) {
    if (data && line !== '.') {
      // A dot in front of a line protects it from being the end (section 4.5.2).
      data.push(line.startsWith('.') ? line.slice(1) : line)
    } else if (data) {
      accept(readMessage(data.join('\r\n'), to))
      data = undefined
      to = []
      reply('250 OK')
    } else if (/^data$/i.test(line)) {
      data = []
      reply('354 Go ahead')
    } else {
      const [, recipient] = /^rcpt to:\s*<([^>]*)>/i.exec(line) ?? []
      if (recipient !== undefined) to.push(recipient)
      reply(/^quit$/i.test(line) ? '221 Bye' : '250 OK')
    }
  }
}

/** A mail server on this machine that keeps what it gets. */
export const startMailServer = async (): Promise<MailServer> => {
  const { list, add } = createArrivals<Message>('message')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.setEncoding('latin1').unref())
    socket.once('close', () => sockets.delete(socket))
    // A connection that breaks has no message for us.
    socket.on('error', () => {})
    converse(socket, add).catch(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages: list,
    unref: () => void server.unref(),
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
