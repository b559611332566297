import { isEmailDomain, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { isLoopbackHost } from '../lib/network.ts'
import type { Mailbox, SmtpServer } from '../mail/mail-settings.ts'
import { listOf, parser, urlParser } from './parsers.ts'

const SMTP_URLS =
  'smtp://USER:PASSWORD@HOST:PORT (without TLS: ?tls=off) or smtps://USER:PASSWORD@HOST:PORT, user and password ' +
  'percent-encoded'

const DEFAULT_PORTS = { implicit: 465, starttls: 587, offered: 25, off: 25 }

/** The URL is read as it is written, since a URL parser would repair what is wrong. */
const URL_PARTS = /^(smtps?):\/\/(?:([^/?#]*)@)?([^@/?#]*?)(?::(\d{1,5}))?\/?(\?tls=off)?$/
const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.?$/i

/** Returns undefined for text that is no such URL, and throws `AppError` where there is more to say. */
export const readSmtpUrl = (text: string): SmtpServer | undefined => {
  const [, scheme, credentials, hostText = '', portText, off] = URL_PARTS.exec(text) ?? []
  const host = readHost(hostText)
  if (scheme === undefined || host === undefined) return undefined
  if (scheme === 'smtps' && off) throw refusal('smtps:// is TLS from the first byte: ?tls=off belongs to smtp://')
  const tls = tlsOf(scheme, host, off !== undefined)
  const port = portText === undefined ? DEFAULT_PORTS[tls] : Number(portText)
  if (port < 1 || port > 65_535) return undefined
  return { host, port, tls, login: readLogin(credentials) }
}

export const smtpUrl = parser(SMTP_URLS, readSmtpUrl)

/** The URL of a server without user and password. */
export const shownSmtp = ({ host, port, tls, login }: SmtpServer): string => {
  const scheme = tls === 'implicit' ? 'smtps' : 'smtp'
  const name = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${login ? '…@' : ''}${name}:${port}${tls === 'off' ? '?tls=off' : ''}`
}

const readHost = (text: string): string | undefined => {
  const [, address] = /^\[([0-9a-f:.]+)\]$/i.exec(text) ?? []
  if (address !== undefined) return URL.canParse(`http://[${address}]`) ? address : undefined
  return HOST_NAME.test(text) ? text : undefined
}

const tlsOf = (scheme: string, host: string, isOff: boolean): SmtpServer['tls'] => {
  if (scheme === 'smtps') return 'implicit'
  if (isOff) return 'off'
  return isLoopbackHost(host) ? 'offered' : 'starttls'
}

const readLogin = (credentials: string | undefined): SmtpServer['login'] => {
  if (credentials === undefined) return undefined
  const [user = '', password = '', ...more] = credentials.split(':').map(decode)
  if (more.length > 0) throw refusal('a colon in the user or password must be written %3A')
  if (user === '' || password === '') throw refusal('a user and a password belong together, as in USER:PASSWORD@')
  return { user, password }
}

const decode = (text: string): string => {
  if (/[@\s]/.test(text)) throw refusal('an @ or a space in the user or password must be written %40 or %20')
  let decoded: string
  try {
    decoded = decodeURIComponent(text)
  } catch {
    throw refusal('the user and the password must be percent-encoded: a % is written %25')
  }
  // NUL stands between user and password on the wire (RFC 4616).
  if (/\p{Cc}/u.test(decoded)) throw refusal('the user and the password may contain no control characters')
  return decoded
}

const refusal = (message: string): AppError => new AppError('invalid_request', message)

const MAX_NAME_LENGTH = 100

export const mailbox = parser(
  `an address such as svc@example.com, an international domain as xn--…, or NAME <svc@example.com> with a name of at most ${MAX_NAME_LENGTH} characters`,
  (text): Mailbox | undefined => {
    // A line end, or what may be taken for one, could begin a header of its own.
    if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)) return undefined
    const [, before = '', inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
    const name = unquote(before.trim())
    const email = readEmail(inBrackets ?? text)
    return email && name !== undefined && name.length <= MAX_NAME_LENGTH
      ? { name: name || undefined, address: email.shown }
      : undefined
  },
)

/** Reads a quoted-string (RFC 5322 section 3.2.4). Undefined for a quotation mark without its partner. */
const unquote = (text: string): string | undefined => {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1')
  return text.includes('"') ? undefined : text
}

export const emailDomains = listOf(
  'comma-separated domains, such as example.com, international ones as xn--…',
  (item) => (isEmailDomain(item) ? item.toLowerCase() : undefined),
)

/** Pages and messages link to it. */
export const supportUrl = urlParser('an https:// URL or mailto:ADDRESS', (text) => {
  if (text.startsWith('mailto:')) return readEmail(text.slice('mailto:'.length)) && text
  return /^https:\/\/[^/?#\\@\s]+(?:[/?#][^\s\\]*)?$/i.test(text) && URL.canParse(text) ? text : undefined
})

/** A path of the application, as the URL standard writes it. */
export const homePath = parser('a path such as /start', (text) => {
  if (!/^\/(?!\/)[^\s\\\p{Cc}]*$/u.test(text) || text.length > 2048) return undefined
  const { pathname, search, hash } = new URL(text, 'http://localhost')
  // `/.//host` resolves to the path `//host`, which a browser takes for another host.
  return pathname.startsWith('//') ? undefined : pathname + search + hash
})
