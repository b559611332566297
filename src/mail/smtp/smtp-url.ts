import { AppError } from '../../lib/errors.ts'
import { isLoopbackHost } from '../../lib/network.ts'

/** Where mail is handed over, and how. */
export interface SmtpSettings {
  /** A name, or an IP address without brackets. */
  host: string
  port: number
  /**
   * `implicit`: from the first byte (smtps). `required`: by STARTTLS. `offered`: by STARTTLS where the server offers it,
   * with any certificate, since the connection stays on this machine. `off`: never.
   */
  tls: 'implicit' | 'required' | 'offered' | 'off'
  /** Undefined: without authentication. */
  login: { user: string; password: string } | undefined
}

export const SMTP_URLS =
  'smtp://USER:PASSWORD@HOST:PORT (with ?tls=off: without TLS) or smtps://USER:PASSWORD@HOST:PORT, user and password ' +
  'percent-encoded'

const DEFAULT_PORTS = { smtp: '587', smtps: '465' } as const

/** The URL is read as it is written: a URL parser would repair what is wrong. */
const URL_PARTS = /^(smtps?):\/\/(?:([^/?#]*)@)?([^@/?#]*?)(?::(\d{1,5}))?\/?(\?tls=off)?$/
const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.?$/i

/** Undefined where the text is no such URL. Throws `AppError` where there is more to say. */
export const readSmtpUrl = (text: string): SmtpSettings | undefined => {
  const [, scheme, credentials, hostText = '', portText, off] = URL_PARTS.exec(text) ?? []
  if (scheme !== 'smtp' && scheme !== 'smtps') return undefined
  const host = readHost(hostText)
  const port = Number(portText ?? DEFAULT_PORTS[scheme])
  if (host === undefined || port < 1 || port > 65_535) return undefined
  if (scheme === 'smtps' && off) throw refusal('smtps:// is TLS from the start: ?tls=off belongs to smtp://')
  return { host, port, tls: tlsOf(scheme, host, off !== undefined), login: readLogin(credentials) }
}

/** The URL without its secrets, for people. */
export const showSmtp = ({ host, port, tls, login }: SmtpSettings): string => {
  const scheme = tls === 'implicit' ? 'smtps' : 'smtp'
  const name = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${login ? '…@' : ''}${name}:${port}${tls === 'off' ? '?tls=off' : ''}`
}

const readHost = (text: string): string | undefined => {
  const [, address] = /^\[([0-9a-f:.]+)\]$/i.exec(text) ?? []
  if (address !== undefined) return URL.canParse(`http://[${address}]`) ? address : undefined
  return HOST_NAME.test(text) ? text : undefined
}

const tlsOf = (scheme: 'smtp' | 'smtps', host: string, isOff: boolean): SmtpSettings['tls'] => {
  if (scheme === 'smtps') return 'implicit'
  if (isOff) return 'off'
  return isLoopbackHost(host) ? 'offered' : 'required'
}

const readLogin = (credentials: string | undefined): SmtpSettings['login'] => {
  if (credentials === undefined) return undefined
  const [user = '', password = '', ...more] = credentials.split(':').map(decode)
  if (more.length > 0) throw refusal('a colon in the user or password must be written %3A')
  if (user === '' || password === '') throw refusal('a user and a password belong together, as in USER:PASSWORD@')
  return { user, password }
}

/** Characters that no user name or password over SMTP can have: NUL separates them (RFC 4616). */
const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text)

const decode = (text: string): string => {
  if (/[@\s]/.test(text)) throw refusal('an @ or a space in the user or password must be written %40 or %20')
  try {
    const decoded = decodeURIComponent(text)
    if (!hasControlCharacter(decoded)) return decoded
  } catch {
    throw refusal('user and password must be percent-encoded: a % is written %25')
  }
  throw refusal('the user and password may contain no control characters')
}

const refusal = (message: string): AppError => new AppError('invalid_request', message)
