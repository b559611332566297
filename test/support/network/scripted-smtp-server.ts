import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

/** What is answered: `content` is the end of a message. */
type Turn = 'greeting' | 'EHLO' | 'HELO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'content' | 'RSET' | 'QUIT'

/**
 * A reply, or a fault: `silence` says nothing, `drip` sends one character every few milliseconds and never ends its
 * line, `break` resets the connection.
 */
type Reply = string

export type ScriptedSmtpServer = {
  port: number
  /** What clients have sent, line by line. */
  lines: string[]
  /** Open connections. */
  open(): number
}

const WELL: Record<Turn, Reply> = {
  greeting: '220 mail.example ready',
  EHLO: '250-mail.example\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN',
  HELO: '250 mail.example',
  STARTTLS: '220 go ahead',
  AUTH: '235 welcome',
  MAIL: '250 sender is fine',
  RCPT: '250 recipient is fine',
  DATA: '354 go ahead',
  content: '250 taken',
  RSET: '250 forgotten',
  QUIT: '221 bye',
}

const DRIP_EVERY_MS = 5

const say = (socket: Socket, reply: Reply): void => {
  if (reply === 'silence') return
  if (reply === 'break') return void socket.resetAndDestroy()
  if (reply !== 'drip') return void socket.write(`${reply}\r\n`)
  const drip = setInterval(() => socket.write('2'), DRIP_EVERY_MS)
  socket.once('close', () => clearInterval(drip))
}

/** Starts a server on 127.0.0.1 that says whatever the test wants, also what no SMTP server would. It has no TLS. */
export const startScriptedSmtpServer = async (
  script: Partial<Record<Turn, Reply>>,
  t: TestContext,
): Promise<ScriptedSmtpServer> => {
  const replies = { ...WELL, ...script }
  const lines: string[] = []
  const sockets = new Set<Socket>()

  const converse = (socket: Socket): void => {
    let isContent = false
    const answer = (line: string): void => {
      lines.push(line)
      if (isContent && line !== '.') return
      const verb = isContent ? 'content' : line.split(' ')[0]?.toUpperCase()
      const [turn] = (Object.keys(WELL) as Turn[]).filter((name) => name === verb)
      isContent = turn === 'DATA' && replies.DATA.startsWith('3')
      say(socket, turn ? replies[turn] : '500 what?')
    }
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    createInterface({ input: socket })
      .on('line', answer)
      .on('error', () => {})
    say(socket, replies.greeting)
  }

  const server = net.createServer(converse).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { port: address.port, lines, open: () => sockets.size }
}
