import { isEmailDomain, readEmail } from '../lib/email-address.ts'
import type { Mailbox } from '../mail/mail-settings.ts'
import { listOf, parser, urlParser } from './parsers.ts'
import { readSmtpUrl, SMTP_URLS } from './smtp-url.ts'

export const smtpUrl = parser(SMTP_URLS, readSmtpUrl)

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

/** For links on pages and in messages. */
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
