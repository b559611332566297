import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
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
  stop(): Promise<void>
}

const USER = 'svc-dev'

/**
 * Starts an SMTP server on this machine that keeps every message. It wants a password, which svc alone knows: web pages
 * can send text to any port.
 */
export const startMailbox = async (onMessage: (message: ReceivedMessage) => void): Promise<DevMailbox> => {
  const messages = createArrivals(onMessage)
  const password = randomToken()
  let count = 0
  const server = new SMTPServer({
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: (auth, _, answer) => {
      const isRight = auth.username === USER && equalInConstantTime(auth.password ?? undefined, password)
      answer(isRight ? null : new Error('Wrong user or password'), isRight ? { user: USER } : undefined)
    },
    onData: (stream, { envelope }, answer) => {
      const keep = async (): Promise<void> => {
        const source = await buffer(stream)
        for (const { address } of envelope.rcptTo) {
          count += 1
          messages.add({ id: String(count), to: address, ...(await readMessage(source)) })
        }
      }
      keep().then(() => answer(), answer)
    },
  })
  // A connection that breaks is the client's business.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    smtpUrl: `smtp://${USER}:${password}@127.0.0.1:${port}`,
    messages,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const LINK = /https?:\/\/[^\s<>"]+/g

/** Digits that stand alone, in one group or two: `123456`, `1234 5678`. */
const CODE = /(?<![\w/@-]|\d\.)\d{3,4}[ -]?\d{3,4}(?![\w/:@-]|\.\d)/g

/** Reads a message as a mail program does. */
export const readMessage = async (source: Buffer): Promise<Omit<ReceivedMessage, 'id' | 'to'>> => {
  const { from, subject = '', text = '', html = '' } = await PostalMime.parse(source)
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
