import { availableParallelism } from 'node:os'
import { isAudience } from '../lib/audience.ts'
import { isNetwork } from '../lib/network.ts'
import { readOrigin } from '../lib/origin.ts'
import { shownUrl } from '../lib/shown-url.ts'
import { MAX_TIMER_MS, parseDuration } from '../lib/time.ts'
import { requireRandom } from '../lib/weak-secret.ts'
import { readPostgresUrl } from '../storage/postgres/url.ts'

/** What a variable may be given, in words, and how it is read. */
export interface Parser<T> {
  format: string
  /** Undefined when it is not that; throws `AppError` where there is more to say than what is accepted. */
  parse: (text: string) => T | undefined
  /** What may be shown of it, right or wrong; all when left out. */
  show?: (text: string) => string
}

/** Both at once. */
export const parser = <T>(accepts: string, read: (text: string) => T | undefined): Parser<T> => ({
  format: accepts,
  parse: read,
})

/** The same of what holds a URL, whose query may hold a token. */
export const urlParser = <T>(accepts: string, read: (text: string) => T | undefined): Parser<T> => ({
  ...parser(accepts, read),
  show: shownUrl,
})

export const oneOf = <T extends string>(...choices: readonly T[]) =>
  parser(choices.map((choice) => `"${choice}"`).join(' or '), (text) => choices.find((choice) => choice === text))

export const onOff = parser('"on" or "off"', (text) => (text === 'on' ? true : text === 'off' ? false : undefined))

export const wholeNumber = (least: number, most: number) =>
  parser(`a whole number from ${least} to ${most}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  })

/** Processes: so many, or one for each core that this process may use. */
export const processes = parser('"auto" (one for each core) or a whole number from 1 to 256', (text) =>
  text === 'auto' ? Math.min(256, availableParallelism()) : wholeNumber(1, 256).parse(text),
)

/** Whole milliseconds from Go's notation. */
export const duration = (mostMs = Number.MAX_SAFE_INTEGER, most = '') =>
  parser(`a duration such as 300ms, 1m30s or 720h, at least 1ms${most}`, (text) => {
    const ms = parseDuration(text)
    return ms !== undefined && ms >= 1 && ms <= mostMs ? Math.round(ms) : undefined
  })
export const timeout = duration(MAX_TIMER_MS, ' and at most 596h')

/** Items between commas, without the spaces around them; none may be empty. */
export const listOf = <T>(accepts: string, readItem: (item: string) => T | undefined) =>
  parser(accepts, (text) => {
    const items = text.split(',').map((item) => readItem(item.trim()))
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

/** A path on the same origin or an absolute URL, for the `src` of an image. */
export const imageUrl = urlParser('a path such as /logo.svg, or an https:// or http:// URL', (text) =>
  (/^\/(?![/\\])[^\s\\]*$/.test(text) || isHttpUrl(text)) && text.length <= 2048 ? text : undefined,
)

export const webhookUrl = urlParser('an http:// or https:// URL without user, password or fragment', (text) =>
  isHttpUrl(text) && !/[#]/.test(text) ? text : undefined,
)

/** Judged as it is written: a URL parser would repair `http:host` and `http:///host`. */
const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\s\\]*)?$/i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  return url.username === '' && url.password === '' && /^[\w.:[\]-]+$/.test(url.host)
}

export const secretText = parser('text without line ends', (text) => (/[\r\n\0]/.test(text) ? undefined : text))

const MIN_ROOT_SECRET_BYTES = 32

const readRootSecret = (text: string): Buffer | undefined => {
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]+={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : Buffer.alloc(0)
  return bytes.length >= MIN_ROOT_SECRET_BYTES ? bytes : undefined
}

/** One that is on its way out may be whatever it was. */
export const previousRootSecret = parser('at least 32 bytes as hex or base64', readRootSecret)

/** Refused where it could be guessed: then everything that it protects is open. */
export const rootSecret = parser('at least 32 random bytes as hex or base64', (text) => {
  const bytes = readRootSecret(text)
  if (bytes) requireRandom(text, bytes)
  return bytes
})

const DATABASE_URLS =
  'sqlite:PATH for a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE with parameters as in libpq'

export const databaseUrl = parser(DATABASE_URLS, (text) => {
  if (/^postgres(?:ql)?:/.test(text)) return { kind: 'postgres' as const, target: readPostgresUrl(text) }
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

export const colour = parser('a colour such as #0f6b5c', (text) =>
  /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined,
)
