import { once as eventOf } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Email } from 'postal-mime'
import type { SMTPServer } from 'smtp-server'
import { once } from '../lib/on-demand.ts'
import { equalInConstantTime, randomToken } from '../lib/secrets.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'

/** A message to one recipient, as a mail program shows it. */
export interface ReceivedMessage {
  id: string
  from: string
  to: string
  subject: string
  text: string
  html: string
  /** The addresses in the text. */
  links: string[]
  /** The codes in the text, which a user types. */
  codes: string[]
}

export interface DevMailbox {
  /** The value of `SVC_SMTP_URL` that leads here. */
  smtpUrl: string
  messages: Arrivals<ReceivedMessage>
  stop(): void
}

const USER = 'svc-dev'

/**
 * Starts an SMTP server on this machine that keeps every message. It wants a password, which svc alone knows: web pages
 * can send text to any port.
 */
export const startMailbox = async (onMessage: (message: ReceivedMessage) => void): Promise<DevMailbox> => {
  const messages = createArrivals(onMessage)
  const password = randomToken()
  // The libraries take a fifth of the start. The first message loads them.
  const load = once(() => createSmtpServer(password, (message) => messages.add(message)))
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    load().then(
      (smtp) => smtp.server.emit('connection', socket),
      () => socket.destroy(),
    )
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await eventOf(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    smtpUrl: `smtp://${USER}:${password}@127.0.0.1:${port}`,
    messages,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** It is handed its connections, and listens nowhere itself. */
const createSmtpServer = async (password: string, keep: (message: ReceivedMessage) => void): Promise<SMTPServer> => {
  const [{ SMTPServer }, { default: PostalMime }] = await Promise.all([import('smtp-server'), import('postal-mime')])
  let count = 0
  const keepAll = async (source: Buffer, recipients: readonly string[]): Promise<void> => {
    for (const to of recipients) {
      count += 1
      keep({ id: String(count), to, ...toMessage(await PostalMime.parse(source)) })
    }
  }
  const server = new SMTPServer({
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: (auth, _, answer) => {
      const isRight = auth.username === USER && equalInConstantTime(auth.password ?? undefined, password)
      answer(isRight ? null : new Error('Wrong user or password'), isRight ? { user: USER } : undefined)
    },
    onData: (stream, { envelope }, answer) => {
      const recipients = envelope.rcptTo.map(({ address }) => address)
      buffer(stream)
        .then((source) => keepAll(source, recipients))
        .then(() => answer(), answer)
    },
  })
  // A connection that breaks is the client's business.
  server.on('error', () => {})
  return server
}

const LINK = /https?:\/\/[^\s<>"]+/g

/** Digits that stand alone, in one group or two: `123456`, `1234 5678`. */
const CODE = /(?<![\w/@-]|\d\.)\d{3,4}[ -]?\d{3,4}(?![\w/:@-]|\.\d)/g

/** Finds in a message what a person would. */
export const toMessage = ({ from, subject = '', text = '', html = '' }: Email): Omit<ReceivedMessage, 'id' | 'to'> => {
  const links = text.match(LINK) ?? []
  const codes = text.replaceAll(LINK, '').match(CODE) ?? []
  return {
    from: from?.address ?? '',
    subject,
    text,
    html,
    links: [...new Set(links)],
    codes: [...new Set(codes.map((code) => code.replaceAll(/[ -]/g, '')))],
  }
}
