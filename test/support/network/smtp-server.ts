import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { afterwards } from '../cleanup.ts'
import type { Certificate } from './certificates.ts'

/** One message that arrived, parsed as a mail program would. */
export type ReceivedMail = {
  /** The addresses of the envelope: the sender's, and the one that it was delivered to. */
  sender: string
  to: string
  /** The `From` header, decoded. */
  from: { name: string; address: string }
  subject: string
  text: string
  html: string
  /** The values of a header, in order. */
  headers(name: string): string[]
  /** Every http and https URL in the text part, in order. */
  links: string[]
  /** Every URL in an `href` of the HTML part, in order. */
  htmlLinks: string[]
  /** The only URL in the text part whose query has a token. Throws if there is none, or several. */
  link: string
  /** The message as it was sent. */
  source: string
  /** The user that the sender authenticated as, and whether the connection used TLS. */
  user: string | undefined
  isEncrypted: boolean
  /** The number of its connection, counted from 1. */
  connection: number
}

/** The parts of a conversation at which the server can fail. */
type SmtpStep = 'greeting' | 'auth' | 'mail' | 'rcpt' | 'data'

export type SmtpServer = {
  port: number
  /** The value of `SVC_SMTP_URL` that leads here. */
  url: string
  /** The settings of a service that sends its mail here. */
  env: { SVC_SMTP_URL: string; SVC_MAIL_FROM: string }
  /** Everything that it has accepted so far, in order. */
  mails: ReceivedMail[]
  /** Resolves once that many messages have arrived in all, or fails after a minute. */
  received(count: number): Promise<ReceivedMail[]>
  /** Resolves to the `count`th message to an address (the first if left out) once it has arrived. */
  receivedFor(address: string, count?: number): Promise<ReceivedMail>
  /** Refuses at one step with a code of SMTP, or never answers there. Replaces the fault before. */
  failAt(step: SmtpStep, reply: number | 'silence'): void
  /** Ends the fault. */
  mend(): void
  /** The number of connections so far, and of those that are open. */
  connections(): { made: number; open: number }
  /** The greatest number of messages that were handed over at the same time. */
  atOnce(): number
  /** Stops to listen and breaks all connections, or begins again on the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

type Options = {
  /** `starttls` offers it and refuses to authenticate before it; `smtps` begins with it. */
  tls?: 'starttls' | 'smtps'
  certificate?: Certificate
  /** Without them, the server asks nobody to authenticate. */
  user?: string
  password?: string
  t?: TestContext
}

const URLS = /https?:\/\/[^\s<>"]+/g

const onlyTokenLink = (links: string[]): string => {
  const [link, ...more] = links.filter((url) => new URL(url).searchParams.has('token'))
  if (link === undefined || more.length > 0) throw new Error(`one link with a token was expected: ${links.join(' ')}`)
  return link
}

const decodeAttribute = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"')

type Envelope = Pick<ReceivedMail, 'sender' | 'to' | 'user' | 'isEncrypted' | 'connection'>

const toMail = async (source: Buffer, envelope: Envelope): Promise<ReceivedMail> => {
  const { subject = '', text = '', html = '', from, headers } = await PostalMime.parse(source)
  const links = [...text.matchAll(URLS)].map(([url]) => url)
  return {
    ...envelope,
    from: { name: from?.name ?? '', address: from?.address ?? '' },
    subject,
    text,
    html,
    headers: (name) => headers.filter(({ key }) => key === name.toLowerCase()).map(({ value }) => value),
    links,
    htmlLinks: [...html.matchAll(/\bhref="([^"]*)"/g)].map(([, url = '']) => decodeAttribute(url)),
    get link() {
      return onlyTokenLink(links)
    },
    source: source.toString('latin1'),
  }
}

const refusal = (code: number): Error => Object.assign(new Error(`refused with ${code}`), { responseCode: code })

/**
 * Starts a real SMTP server on 127.0.0.1. It stops after the test `t`, or after the file when no test is given. Import
 * it only in files that need mail: it takes long to load.
 */
export const startSmtpServer = async ({ tls, certificate, user, password, t }: Options = {}): Promise<SmtpServer> => {
  const mails: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  const numbers = new Map<string, number>()
  const underWay = new Set<string>()
  let atOnce = 0
  let arrived = Promise.withResolvers<void>()
  let fault: { step: SmtpStep; reply: number | 'silence' } | undefined

  /** Goes on, or answers as the fault of this step demands. */
  const pass = (step: SmtpStep, answer: (error?: Error) => void, goOn: () => void = answer): void => {
    if (fault?.step !== step) goOn()
    else if (fault.reply !== 'silence') answer(refusal(fault.reply))
  }

  const keep = async (source: Buffer, session: SMTPServerSession): Promise<void> => {
    const { envelope, secure, id } = session
    const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
    const facts = { sender, user: session.user, isEncrypted: secure, connection: numbers.get(id) ?? 0 }
    underWay.delete(id)
    for (const { address } of envelope.rcptTo) mails.push(await toMail(source, { ...facts, to: address }))
    arrived.resolve()
    arrived = Promise.withResolvers()
  }

  const createServer = (): SMTPServer => {
    const server = new SMTPServer({
      logger: false,
      secure: tls === 'smtps',
      ...(certificate && { cert: certificate.certificate, key: certificate.key }),
      disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(user === undefined ? ['AUTH'] : [])],
      allowInsecureAuth: tls !== 'starttls',
      disableReverseLookup: true,
      closeTimeout: 1,
      onConnect(session, answer) {
        numbers.set(session.id, numbers.size + 1)
        pass('greeting', answer)
      },
      onAuth(auth, _, answer) {
        const isRight = auth.username === user && auth.password === password
        pass('auth', answer, () => answer(null, isRight ? { user } : {}))
      },
      onMailFrom(_address, { id }, answer) {
        underWay.add(id)
        atOnce = Math.max(atOnce, underWay.size)
        pass('mail', answer)
      },
      onClose: ({ id }) => void underWay.delete(id),
      onRcptTo: (_address, _session, answer) => pass('rcpt', answer),
      onData(stream, session, answer) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        const keepAll = async () => keep(Buffer.concat(chunks), session).then(() => answer(), answer)
        stream.on('end', () => pass('data', answer, keepAll))
      },
    })
    // Connections that a client breaks are none of the test's business.
    server.on('error', () => {})
    server.server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    return server
  }

  let server = createServer()
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server.server, 'listening')
  }
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen(0)
  afterwards(t, stop)
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('the SMTP server has no port')
  const { port } = address

  const until = async (holds: () => boolean, what: string): Promise<void> => {
    const patience = Date.now() + 60_000
    while (!holds()) {
      const list = mails.map(({ to, subject }) => `${to} (${subject})`).join(', ')
      if (Date.now() > patience) throw new Error(`${what} did not arrive within a minute, but: ${list}`)
      await Promise.race([arrived.promise, new Promise((resolve) => setTimeout(resolve, 200))])
    }
  }

  const credentials = user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`
  const url = `${tls === 'smtps' ? 'smtps' : 'smtp'}://${credentials}127.0.0.1:${port}`
  return {
    port,
    url,
    env: { SVC_SMTP_URL: url, SVC_MAIL_FROM: 'Svc Test <svc@example.com>' },
    mails,
    received: async (count) => {
      await until(() => mails.length >= count, `${count} messages`)
      return mails
    },
    receivedFor: async (recipient, count = 1) => {
      const found = () => mails.filter(({ to }) => to.toLowerCase() === recipient.toLowerCase())
      await until(() => found().length >= count, `message ${count} for ${recipient}`)
      return found()[count - 1] ?? Promise.reject(new Error('gone'))
    },
    failAt: (step, reply) => {
      fault = { step, reply }
    },
    mend: () => {
      fault = undefined
    },
    connections: () => ({ made: numbers.size, open: sockets.size }),
    atOnce: () => atOnce,
    stop,
    start: async () => {
      server = createServer()
      await listen(port)
    },
  }
}
