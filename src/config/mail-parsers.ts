import { isEmailDomain, readEmail } from '../lib/email-address.ts'
import { isLoopbackUrl } from '../lib/origin.ts'
import type { Mailbox, SmtpServer } from '../mail/mail-settings.ts'
import { listOf, parser, urlParser } from './parsers.ts'

const PORTS = { implicit: 465, starttls: 587, off: 25 }

const readTls = ({ protocol, href, searchParams }: URL): SmtpServer['tls'] => {
  if (protocol === 'smtps:') return 'implicit'
  return searchParams.get('tls') === 'off' || isLoopbackUrl(href) ? 'off' : 'starttls'
}

const decoded = (part: string): string | undefined => (part === '' ? undefined : decodeURIComponent(part))

export const smtpUrl = parser('smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT', (text) => {
  if (!/^smtps?:\/\/[^/?#\s]+\/?(?:\?tls=off)?$/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const tls = readTls(url)
  const server: SmtpServer = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? PORTS[tls] : Number(url.port),
    tls,
    user: decoded(url.username),
    password: decoded(url.password),
  }
  return server
})

export const mailbox = parser('an address such as svc@example.com, or Name <svc@example.com>', (text) => {
  const [, name, address] = /^(?:([^<>\p{Cc}]*?) *<([^<>]+)>|)$/u.exec(text) ?? []
  const email = readEmail(address ?? text)
  if (!email) return undefined
  const box: Mailbox = { name: name || undefined, address: email.shown }
  return box
})

export const emailDomains = listOf('comma-separated domains, such as example.com', (item) =>
  isEmailDomain(item) ? item.toLowerCase() : undefined,
)

/** For links on pages and in messages. */
export const supportUrl = urlParser('an https:// URL or mailto:ADDRESS', (text) => {
  if (text.startsWith('mailto:')) return readEmail(text.slice('mailto:'.length)) && text
  return /^https:\/\/[^/?#\\@\s]+(?:[/?#][^\s\\]*)?$/i.test(text) && URL.canParse(text) ? text : undefined
})

/** A path of the application. */
export const homePath = parser('a path such as /start', (text) =>
  /^\/(?![/\\])[^\s\\\p{Cc}]*$/u.test(text) && text.length <= 2048 ? text : undefined,
)
