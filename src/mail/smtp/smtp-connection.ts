import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import type Conversation from 'nodemailer/lib/smtp-connection'
import type { Circumstances } from './smtp-error.ts'
import type { SmtpServer } from '../mail-settings.ts'

/** A message goes over the wire in this form. */
export interface Envelope {
  from: string
  to: string
  /** It has headers and body, and its lines end with CRLF. */
  source: Buffer
}

export interface SmtpConnectionDeps {
  server: SmtpServer
  /** svc gives itself this name; if it is undefined, nodemailer chooses one. */
  clientName: string | undefined
  /** This is the time limit of an attempt, from the name lookup to the reply to the message. */
  timeoutMs: number
}

/** The methods of one connection to the SMTP server reject with the error that occurred, and know no time limit. */
export interface SmtpConnection {
  /** Looks the name up, connects, and authenticates. */
  open(): Promise<void>
  send(message: Envelope): Promise<void>
  /** Prepares for another message. */
  reset(): Promise<void>
  /** Says goodbye, and resolves when the server has answered. */
  quit(): Promise<void>
  /** Destroys the socket in any state. */
  destroy(): void
  circumstances(): Circumstances
}

type Done = (error?: Error | null) => void

const answered = (start: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())))

/** They are loaded with the first message: a service that sends no mail needs neither. */
const net = () => process.getBuiltinModule('node:net')
const tls = () => process.getBuiltinModule('node:tls')

/** An address cannot be a server name (RFC 6066 section 3). */
const serverName = (host: string): { servername?: string } => (isIP(host) === 0 ? { servername: host } : {})

/** Begins to connect, with TLS if the URL is smtps. Emits `error`, or the event that `readyEvent` names. */
const openSocket = ({ host, port, tls: mode }: SmtpServer): Socket =>
  mode === 'implicit' ? tls().connect({ host, port, ...serverName(host) }) : net().connect({ host, port })

/** Names the event of a socket that is ready for SMTP: a TLS socket once its certificate was checked. */
const readyEvent = ({ tls: mode }: SmtpServer): string => (mode === 'implicit' ? 'secureConnect' : 'connect')

export const createSmtpConnection = ({ server: smtp, clientName, timeoutMs }: SmtpConnectionDeps): SmtpConnection => {
  let socket: Socket | undefined
  let conversation: Conversation | undefined
  let phase: Circumstances['phase'] = 'connecting'
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})

  /** Rejects when the connection breaks: not every command of the library is called back then. */
  const orBroken = (work: Promise<void>): Promise<void> => Promise.race([work, broken.promise])

  const command = (start: (conversation: Conversation, done: Done) => void): Promise<void> => {
    const talk = conversation
    return talk ? orBroken(answered((done) => start(talk, done))) : Promise.reject(new Error('not connected'))
  }

  /**
   * Loads the library. Its timeouts, of which it counts some from moments of its own, come long after the time limit,
   * which is kept elsewhere and says what happened.
   */
  const begin = async (connection: Socket): Promise<Conversation> => {
    const { default: SmtpConversation } = await import('nodemailer/lib/smtp-connection')
    const { host, port, tls } = smtp
    const isImplicit = tls === 'implicit'
    return new SmtpConversation({
      connection,
      host,
      port,
      secure: isImplicit,
      secured: isImplicit,
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'off',
      ...(tls === 'offered' && { tls: { rejectUnauthorized: false } }),
      name: clientName,
      connectionTimeout: 2 * timeoutMs,
      greetingTimeout: 2 * timeoutMs,
      socketTimeout: 2 * timeoutMs,
      socketCloseTimeout: 0,
    })
  }

  return {
    async open() {
      socket = openSocket(smtp)
      await once(socket, readyEvent(smtp))
      // The library listens from this line on. An error after its end has no meaning.
      socket.on('error', () => {})
      phase = 'greeting'
      conversation = await begin(socket)
      if (socket.destroyed) throw new Error('the connection was closed')
      conversation.on('error', broken.reject)
      conversation.on('end', () => broken.reject(new Error('the connection was closed')))
      await command((talk, done) => talk.connect(done))
      const { login } = smtp
      if (!login) return
      phase = 'authentication'
      await command((talk, done) => talk.login({ user: login.user, pass: login.password }, done))
    },

    async send({ from, to, source }) {
      phase = 'message'
      await command((talk, done) => talk.send({ from, to, size: source.length }, source, done))
    },

    async reset() {
      phase = 'message'
      await command((talk, done) => talk.reset(done))
    },

    async quit() {
      conversation?.quit()
      await broken.promise.catch(() => {})
    },

    destroy() {
      conversation?.close()
      // After STARTTLS, the conversation has closed the TLS socket around this one.
      socket?.destroy()
    },

    circumstances: () => ({
      server: `${smtp.host}:${smtp.port}`,
      phase,
      hasGreeted: Boolean(conversation?.lastServerResponse),
      timeoutMs,
    }),
  }
}
