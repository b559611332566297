import { canonicalTag } from '../lib/language-tag.ts'
import { isAudience } from '../lib/audience.ts'
import { isNetwork } from '../lib/network.ts'
import { readOwnStyle } from '../lib/own-style.ts'
import { readOrigin, redactUrl } from '../lib/url.ts'
import { MAX_TIMER_MS, parseDuration } from '../lib/time.ts'
import { requireUnguessable } from '../lib/weak-secret.ts'
import { readPostgresUrl } from '../storage/postgres/url.ts'
import { requireBlocklistFile } from '../accounts/passwords/blocklist/blocklist-file.ts'

export interface Parser<T> {
  /** Describes the accepted texts, for the documentation and error messages. */
  format: string
  /** Undefined when the text is not accepted. Throws `AppError` where its message says more than `format`. */
  parse: (text: string) => T | undefined
  /** The part of a text, valid or not, that may be shown. Without it, all of the text may be. */
  show?: (text: string) => string
}

export const parser = <T>(format: string, parse: (text: string) => T | undefined): Parser<T> => ({ format, parse })

/** A parser of URLs. Their queries are not shown: they may contain a token. */
export const urlParser = <T>(format: string, parse: (text: string) => T | undefined): Parser<T> => ({
  ...parser(format, parse),
  show: redactUrl,
})

export const oneOf = <T extends string>(...choices: readonly T[]) =>
  parser(choices.map((choice) => `"${choice}"`).join(' or '), (text) => choices.find((choice) => choice === text))

export const onOff = parser('"on" or "off"', (text) => (text === 'on' ? true : text === 'off' ? false : undefined))

export const wholeNumber = (least: number, most: number) =>
  parser(`a whole number from ${least} to ${most}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  })

/** A duration in Go's notation (`lib/time.ts`), in whole milliseconds. */
export const duration = (maxMs = Number.MAX_SAFE_INTEGER, maxText = '') =>
  parser(`a duration such as 300ms, 1m30s or 720h, at least 1ms${maxText}`, (text) => {
    const ms = parseDuration(text)
    return ms !== undefined && ms >= 1 && ms <= maxMs ? Math.round(ms) : undefined
  })

/** The same, and `0`. */
export const durationOrZero = parser('a duration such as 300ms, 1m30s or 720h, or 0', (text) =>
  text === '0' ? 0 : duration().parse(text),
)

/** A duration that a timer can wait for. */
export const timeout = duration(MAX_TIMER_MS, ' and at most 596h')

/** Comma-separated items. Spaces around an item are ignored; an empty item is not accepted unless `parseItem` does. */
export const listOf = <T>(format: string, parseItem: (item: string) => T | undefined) =>
  parser(format, (text) => {
    const items = text.split(',').map((item) => parseItem(item.trim()))
    return items.some((item) => item === undefined) ? undefined : (items as T[])
  })

export const printable = (most: number) =>
  parser(`text of 1 to ${most} characters without control characters`, (text) =>
    text.length <= most && !/\p{Cc}/u.test(text) ? text : undefined,
  )

export const origin = urlParser('an origin such as https://example.com, without path, query or user', readOrigin)

export const host = parser('an IP address or host name to listen on', (text) =>
  /^[\w.:-]+$/.test(text) ? text : undefined,
)

/** A DNS name, in lower case; no IP address. */
export const domain = parser('a domain such as example.com', (text) => {
  const name = text.toLowerCase()
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
    ? name
    : undefined
})

/** Browsers offer passkeys there: https, and a domain. */
export const httpsOrigin = urlParser('an https:// origin with a domain, such as https://admin.example.com', (text) => {
  const read = readOrigin(text)
  const url = read === undefined ? undefined : new URL(read)
  return url?.protocol === 'https:' && domain.parse(url.hostname) !== undefined ? url.origin : undefined
})

/** A path on the same origin or an absolute URL, for the `src` of an image. */
export const imageUrl = urlParser('a path such as /logo.svg, or an https:// or http:// URL', (text) =>
  (/^\/(?![/\\])[^\s\\]*$/.test(text) || isHttpUrl(text)) && text.length <= 2048 ? text : undefined,
)

/** The same, for a link. */
export const pageUrl = urlParser('a path such as /terms, or an https:// or http:// URL', imageUrl.parse)

export const webhookUrl = urlParser('an http:// or https:// URL without user, password or fragment', (text) =>
  isHttpUrl(text) && !/[#]/.test(text) ? text : undefined,
)

/** Checks the text itself, because a URL parser would repair `http:host` and `http:///host`. */
const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\s\\]*)?$/i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  return url.username === '' && url.password === '' && /^[\w.:[\]-]+$/.test(url.host)
}

export const secretText = parser('text without line ends', (text) => (/[\r\n\0]/.test(text) ? undefined : text))

const MIN_ROOT_SECRET_BYTES = 32

const parseRootSecret = (text: string): Buffer | undefined => {
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]+={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : Buffer.alloc(0)
  return bytes.length >= MIN_ROOT_SECRET_BYTES ? bytes : undefined
}

/** Not checked for randomness: a weak previous secret must be accepted so that it can be rotated away. */
export const previousRootSecret = parser('at least 32 bytes as hex or base64', parseRootSecret)

/** A secret that could be guessed is refused: it protects the signing keys and every refresh token. */
export const rootSecret = parser('at least 32 random bytes as hex or base64', (text) => {
  const bytes = parseRootSecret(text)
  if (bytes) requireUnguessable(text, bytes)
  return bytes
})

const DATABASE_URLS =
  'sqlite:PATH for a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE with parameters as in libpq'

export const databaseUrl = parser(DATABASE_URLS, (text) => {
  if (/^postgres(?:ql)?:/.test(text)) return { kind: 'postgres' as const, connection: readPostgresUrl(text) }
  const [, file] = /^sqlite:([^\0]+)$/.exec(text) ?? []
  return file && file !== ':memory:' ? { kind: 'sqlite' as const, file } : undefined
})

export const audiences = listOf(
  'comma-separated names, each of 1 to 128 of the characters A-Z a-z 0-9 . _ : / -',
  (item) => (isAudience(item) ? item : undefined),
)

export const networks = listOf('"loopback", comma-separated addresses and CIDR ranges, or "none"', (item) =>
  isNetwork(item) ? item : undefined,
)

/** It is written as it usually is, in whatever case it was given. */
export const languageTag = parser('a language tag (BCP 47), such as en, de or pt-BR', canonicalTag)

export const colour = parser('a colour such as #0f6b5c', (text) =>
  /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined,
)

/** A file that is read at once. */
export const styleFile = parser('the path of a CSS file of at most 256 KiB, in UTF-8', readOwnStyle)

/** A file that is looked into when it is read: a mistake in it must not wait for the first signup. */
export const blocklistFile = parser(
  'the path of a UTF-8 file with one password a line, or with SHA1HEX:COUNT a line, sorted',
  (file) => {
    requireBlocklistFile(file)
    return file
  },
)
