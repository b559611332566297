/** The steps of a delivery are in order. `name` looks the host up; `message` is everything from DATA on. */
export type SmtpStep =
  | 'name'
  | 'connection'
  | 'greeting'
  | 'tls'
  | 'certificate'
  | 'authentication'
  | 'sender'
  | 'recipient'
  | 'message'

interface Facts {
  step: SmtpStep
  /** This is the problem, for people. */
  text: string
  code?: number | undefined
  cause?: unknown
}

/** The error says why a message was not accepted. */
export class SmtpError extends Error {
  readonly step: SmtpStep
  readonly code: number | undefined

  constructor({ step, text, code, cause }: Facts) {
    super(text, { cause })
    this.name = 'SmtpError'
    this.step = step
    this.code = code
  }

  /**
   * RFC 5321 section 4.2.1 says that a reply of 5xx is final. Everything else may be over soon, a failed connection
   * too.
   */
  get isPermanent(): boolean {
    return this.code !== undefined && this.code >= 500
  }
}

/** Errors of nodemailer and of sockets carry these facts beside their message. */
interface ErrorFacts extends Error {
  code?: string
  /** nodemailer has replaced this code with its own. */
  originalCode?: string
  /** The server answered this command. */
  command?: string
  response?: string
  responseCode?: number
}

export interface Circumstances {
  /** It has the form `host:port`. */
  server: string
  phase: 'connecting' | 'greeting' | 'authentication' | 'message'
  /** This tells whether the server has said anything. */
  hasGreeted: boolean
  timeoutMs: number
}

/** Names the step at which an attempt failed, and the reason. */
export const explain = (error: unknown, circumstances: Circumstances): SmtpError => {
  if (error instanceof SmtpError) return error
  const facts: ErrorFacts = error instanceof Error ? error : new Error(String(error))
  return facts.responseCode === undefined ? explainFailure(facts, circumstances) : explainReply(facts, circumstances)
}

const REPLIES: [command: RegExp, step: SmtpStep, words: string][] = [
  [/^STARTTLS/, 'tls', 'offers no TLS: it answered STARTTLS with'],
  [/^AUTH/, 'authentication', 'did not accept the user and password:'],
  [/^MAIL FROM/, 'sender', 'refused the sender (SVC_MAIL_FROM):'],
  [/^RCPT TO/, 'recipient', 'refused the recipient:'],
  [/^DATA/, 'message', 'refused the message:'],
  [/^(?:EHLO|HELO)/, 'greeting', 'refused the greeting of svc:'],
]

const explainReply = (error: ErrorFacts, { server }: Circumstances): SmtpError => {
  const { command = '', response = '', responseCode: code } = error
  const [, step, words] = REPLIES.find(([pattern]) => pattern.test(command)) ?? [
    /^/,
    'greeting',
    'refused the connection:',
  ]
  return new SmtpError({ step, text: `${server} ${words} ${oneLine(response)}`, code, cause: error })
}

const MAX_REPLY_LENGTH = 300

/** Replies go to terminals, to the outbox and to the log, which must not learn who gets mail. */
const oneLine = (reply: string): string =>
  reply
    .slice(0, MAX_REPLY_LENGTH)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '…')
    .trim()

const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/

const explainFailure = (error: ErrorFacts, circumstances: Circumstances): SmtpError => {
  const { server, phase } = circumstances
  const { originalCode, code = originalCode ?? '' } = error
  const cause = originalCode ?? code
  const fail = (step: SmtpStep, text: string) => new SmtpError({ step, text, cause: error })
  if (cause === 'ENOTFOUND' || cause === 'EAI_AGAIN')
    return fail('name', `the name of ${server} was not found (${cause})`)
  if (CERTIFICATE.test(cause))
    return fail('certificate', `the certificate of ${server} is not accepted: ${oneLine(error.message)}`)
  if (phase === 'connecting' && /^(?:EPROTO$|ERR_SSL)/.test(cause)) {
    return fail(
      'tls',
      `${server} does not begin with TLS (${oneLine(cause)}): smtps:// is for port 465, smtp:// for others`,
    )
  }
  if (code === 'ETLS' || /^(?:EPROTO$|ERR_SSL)/.test(cause))
    return fail('tls', `TLS with ${server} failed: ${oneLine(error.message)}`)
  if (phase === 'connecting') return fail('connection', connectionText(cause, server))
  // A reply begins with a code.
  if (code === 'EPROTOCOL' || error.response)
    return fail(
      stepOf(circumstances),
      `${server} gave an answer that is not SMTP: ${oneLine(error.response || error.message)}`,
    )
  if (code === 'EAUTH') return fail('authentication', `${server} offers no way to authenticate that svc knows`)
  return fail(stepOf(circumstances), `${server} broke off: ${oneLine(error.message)}`)
}

const connectionText = (code: string, server: string): string => {
  if (code === 'ECONNREFUSED') return `${server} refused the connection: nothing listens there`
  return `${server} cannot be reached (${code || 'no answer'})`
}

const stepOf = ({ phase }: Circumstances): SmtpStep => (phase === 'connecting' ? 'connection' : phase)

/** The attempt has taken longer than it may. */
export const explainTimeout = (circumstances: Circumstances): SmtpError => {
  const { server, phase, hasGreeted, timeoutMs } = circumstances
  const step = stepOf(circumstances)
  const within = `within ${timeoutMs / 1000} s (SVC_MAIL_TIMEOUT)`
  if (phase === 'connecting') return new SmtpError({ step, text: `${server} did not answer ${within}` })
  if (!hasGreeted) return new SmtpError({ step, text: `no greeting from ${server} ${within}` })
  return new SmtpError({ step, text: `${server} was too slow: the message was not handed over ${within}` })
}
