import { availableParallelism } from 'node:os'
import { isAudience } from './lib/audience.ts'
import { LOG_LEVELS, type LogLevel } from './lib/log.ts'
import { isNetwork } from './lib/network.ts'
import { readOrigin } from './lib/origin.ts'
import { MAX_TIMER_MS, parseDuration } from './lib/time.ts'
import { EVENT_TYPES, type EventType } from './webhooks/event-types.ts'

/** What a variable may be given, in words, and how it is read: undefined when it is not that. */
interface Kind<T> {
  accepts: string
  read: (text: string) => T | undefined
}

interface Setting<T> extends Kind<T> {
  name: `SVC_${string}`
  meaning: string
  /** As it would be written; left out where there is none. */
  fallback?: string
  /** What stands in the place of a default that depends on something. */
  fallbackShown?: string
  /** May also come as the path of a file in the variable with `_FILE` behind it, and is never shown. */
  secret?: boolean
}

const kind = <T>(accepts: string, read: (text: string) => T | undefined): Kind<T> => ({ accepts, read })

const oneOf = <T extends string>(...choices: readonly T[]) =>
  kind(choices.map((choice) => `"${choice}"`).join(' or '), (text) => choices.find((choice) => choice === text))

const onOff = kind('"on" or "off"', (text) => (text === 'on' ? true : text === 'off' ? false : undefined))

const wholeNumber = (least: number, most: number) =>
  kind(`a whole number from ${least} to ${most}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  })

/** Milliseconds from Go's notation. */
const duration = (mostMs = Number.MAX_SAFE_INTEGER, most = '') =>
  kind(`a duration such as 300ms, 1m30s or 720h, at least 1ms${most}`, (text) => {
    const ms = parseDuration(text)
    return ms !== undefined && ms >= 1 && ms <= mostMs ? ms : undefined
  })
const timeout = duration(MAX_TIMER_MS, ' and at most 596h')

/** Items between commas, without the spaces around them; none may be empty. */
const listOf = <T>(accepts: string, readItem: (item: string) => T | undefined) =>
  kind(accepts, (text) => {
    const items = text.split(',').map((item) => readItem(item.trim()))
    return items.some((item) => item === undefined) ? undefined : (items as T[])
  })

const printable = (most: number) =>
  kind(`text of 1 to ${most} characters without control characters`, (text) =>
    text.length <= most && !/\p{Cc}/u.test(text) ? text : undefined,
  )

const origin = kind('an origin such as https://example.com, without path, query or user', readOrigin)

const host = kind('an IP address or host name to listen on', (text) => (/^[\w.:-]+$/.test(text) ? text : undefined))

/** A path on the same origin or an absolute URL, for the `src` of an image. */
const imageUrl = kind('a path such as /logo.svg, or an https:// or http:// URL', (text) =>
  (/^\/(?![/\\])[^\s\\]*$/.test(text) || isHttpUrl(text)) && text.length <= 2048 ? text : undefined,
)

const webhookUrl = kind('an http:// or https:// URL without user, password or fragment', (text) =>
  isHttpUrl(text) && !/[#]/.test(text) ? text : undefined,
)

/** Judged as it is written: a URL parser would repair `http:host` and `http:///host`. */
const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\s\\]*)?$/i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  return url.username === '' && url.password === ''
}

const secretText = kind('text without line ends', (text) => (/[\r\n\0]/.test(text) ? undefined : text))

const MIN_ROOT_SECRET_BYTES = 32

const rootSecret = kind('at least 32 bytes as hex or base64', (text) => {
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]+={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : Buffer.alloc(0)
  return bytes.length >= MIN_ROOT_SECRET_BYTES ? bytes : undefined
})

const databaseUrl = kind('sqlite:PATH', (text) => {
  const [, file] = /^sqlite:([^\0]+)$/.exec(text) ?? []
  return file ? { kind: 'sqlite' as const, file } : undefined
})

const audiences = listOf('names of 1 to 128 of the characters A-Z a-z 0-9 . _ : / -, with commas between', (item) =>
  isAudience(item) ? item : undefined,
)

const networks = listOf('"loopback", addresses and CIDR ranges, with commas between, or "none"', (item) =>
  isNetwork(item) ? item : undefined,
)

const colour = kind('a colour such as #0f6b5c', (text) =>
  /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined,
)

const setting = <T>(entry: Setting<T>): Setting<T> => entry

/** Every setting there is. The type, the reference in docs/ and `svc config` come from here. */
export const SETTINGS = {
  baseUrl: setting({
    name: 'SVC_BASE_URL',
    meaning: 'Public origin of the application and the service. With https, cookies are `Secure`.',
    fallbackShown: 'http://localhost:PORT',
    ...origin,
  }),
  host: setting({ name: 'SVC_HOST', meaning: 'Address to listen on.', fallback: '127.0.0.1', ...host }),
  port: setting({
    name: 'SVC_PORT',
    meaning: 'Port to listen on; 0 takes a free one.',
    fallback: '8080',
    ...wholeNumber(0, 65_535),
  }),
  database: setting({
    name: 'SVC_DATABASE_URL',
    meaning: 'Where everything is kept. The file and its folder are made at first start.',
    fallback: 'sqlite:data/svc.db',
    ...databaseUrl,
  }),
  secret: setting({
    name: 'SVC_SECRET',
    meaning: 'Root secret that protects signing keys and refresh tokens. Keep it apart from backups of the database.',
    fallbackShown: 'made at first start, in svc.secret beside the SQLite file',
    secret: true,
    ...rootSecret,
  }),
  audiences: setting({
    name: 'SVC_AUDIENCES',
    meaning: 'Audiences that may be asked for; the first is given at login.',
    fallbackShown: 'any; `app` at login',
    ...audiences,
  }),
  accessTokenLifetimeMs: setting({
    name: 'SVC_ACCESS_TOKEN_TTL',
    meaning: 'How long an access token is good.',
    fallback: '10m',
    ...duration(),
  }),
  sessionLifetimeMs: setting({
    name: 'SVC_SESSION_TTL',
    meaning: 'How long a session lasts at most.',
    fallback: '720h',
    ...duration(),
  }),
  sessionIdleMs: setting({
    name: 'SVC_SESSION_IDLE_TTL',
    meaning: 'How long a session lasts without being refreshed.',
    fallback: '336h',
    ...duration(),
  }),
  refreshGraceMs: setting({
    name: 'SVC_REFRESH_GRACE',
    meaning: 'How long a refresh token that was just replaced stays good, for tabs that refresh at once.',
    fallback: '30s',
    ...duration(),
  }),
  signup: setting({
    name: 'SVC_SIGNUP',
    meaning: '`off`: no new accounts except by the command line.',
    fallback: 'on',
    ...onOff,
  }),
  trustProxy: setting({
    name: 'SVC_TRUST_PROXY',
    meaning: 'Proxies whose `X-Forwarded-*` headers are believed, walked from the right.',
    fallback: 'loopback',
    ...networks,
  }),
  rateLimit: setting({
    name: 'SVC_RATE_LIMIT',
    meaning: 'Limits on failed logins and on signups. `off` is for tests.',
    fallback: 'on',
    ...onOff,
  }),
  hashesAtOnce: setting({
    name: 'SVC_HASHES_AT_ONCE',
    meaning: 'Password hashes computed at the same time.',
    fallbackShown: 'the number of cores',
    ...wholeNumber(1, 1024),
  }),
  hashQueue: setting({
    name: 'SVC_HASH_QUEUE',
    meaning: 'How many logins and signups may wait for their hash; past that they are answered 503.',
    fallback: '256',
    ...wholeNumber(0, 100_000),
  }),
  webhookUrl: setting({
    name: 'SVC_WEBHOOK_URL',
    meaning: 'Endpoint that receives events. Webhooks are on when it and the secret are set.',
    ...webhookUrl,
  }),
  webhookSecret: setting({
    name: 'SVC_WEBHOOK_SECRET',
    meaning: 'Shared secret that signs events; 16 bytes or more.',
    secret: true,
    ...secretText,
  }),
  webhookEvents: setting({
    name: 'SVC_WEBHOOK_ENABLED_EVENTS',
    meaning: 'Events to send.',
    fallbackShown: 'all',
    ...listOf(`event types with commas between: ${EVENT_TYPES.join(', ')}`, (item): EventType | undefined =>
      EVENT_TYPES.find((type) => type === item),
    ),
  }),
  webhookTimeoutMs: setting({
    name: 'SVC_WEBHOOK_TIMEOUT',
    meaning: 'Bounds a whole delivery.',
    fallback: '5s',
    ...timeout,
  }),
  webhookMaxAttempts: setting({
    name: 'SVC_WEBHOOK_MAX_ATTEMPTS',
    meaning: 'More than 1: tried again with exponential back-off after network errors, 408, 429 and 5xx.',
    fallback: '1',
    ...wholeNumber(1, 100),
  }),
  webhookRetentionMs: setting({
    name: 'SVC_WEBHOOK_RETENTION',
    meaning: 'How long events that were delivered or given up are kept, to be listed and sent again.',
    fallback: '720h',
    ...duration(),
  }),
  cleanupIntervalMs: setting({
    name: 'SVC_CLEANUP_INTERVAL',
    meaning: 'How often rows that are past their time are deleted.',
    fallback: '10m',
    ...timeout,
  }),
  appName: setting({
    name: 'SVC_APP_NAME',
    meaning: 'Name of the application on the pages.',
    fallbackShown: 'host of `SVC_BASE_URL`',
    ...printable(60),
  }),
  logoUrl: setting({
    name: 'SVC_LOGO_URL',
    meaning: 'Image shown instead of the name: a path of the application or an absolute URL.',
    ...imageUrl,
  }),
  accentColor: setting({
    name: 'SVC_ACCENT_COLOR',
    meaning: 'Colour of buttons and links, adjusted where it would be hard to read.',
    fallback: '#0f6b5c',
    ...colour,
  }),
  drainMs: setting({
    name: 'SVC_DRAIN',
    meaning: 'How long a service that was told to stop goes on taking connections while `/auth/ready` says 503.',
    fallback: '500ms',
    ...timeout,
  }),
  logLevel: setting({
    name: 'SVC_LOG_LEVEL',
    meaning: 'Least level that is logged.',
    fallback: 'info',
    ...oneOf<LogLevel>(...LOG_LEVELS),
  }),
}

type Settings = typeof SETTINGS
type WithFallback = { [K in keyof Settings]: K extends OptionalKey ? never : K }[keyof Settings]
/** Settings without a default that can be written down. */
type OptionalKey =
  | 'baseUrl'
  | 'secret'
  | 'audiences'
  | 'hashesAtOnce'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookEvents'
  | 'appName'
  | 'logoUrl'
type ValueOf<S> = S extends Setting<infer T> ? T : never

type Read = { [K in WithFallback]: ValueOf<Settings[K]> } & { [K in OptionalKey]?: ValueOf<Settings[K]> }

/** The settings as read, and what follows from them. */
export type Config = Omit<Read, 'audiences' | 'hashesAtOnce' | 'webhookEvents'> & {
  audiences: string[]
  hashesAtOnce: number
  webhookEvents: readonly EventType[]
  /** Mistakes that do not keep the service from starting. */
  warnings: string[]
}

/** All that is wrong with the configuration, a line each. */
export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type Environment = Record<string, string | undefined>

const MIN_WEBHOOK_SECRET_BYTES = 16

/** Reads the settings; `readFile` is for variables that name a file. Throws `ConfigError` with every mistake at once. */
export const readConfig = (environment: Environment, readFile: (path: string) => string): Config => {
  const problems: string[] = []
  const read: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(SETTINGS)) {
    read[key] = readSetting(entry, environment, readFile, problems)
  }
  const settings = read as Read
  problems.push(...findContradictions(environment))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    ...settings,
    audiences: settings.audiences ?? [],
    hashesAtOnce: settings.hashesAtOnce ?? availableParallelism(),
    webhookEvents: settings.webhookEvents ?? EVENT_TYPES,
    warnings: [...findWarnings(settings), ...findUnknown(environment)],
  }
}

const readSetting = (
  entry: Setting<unknown>,
  environment: Environment,
  readFile: (path: string) => string,
  problems: string[],
): unknown => {
  const { name, accepts, secret, fallback } = entry
  const file = secret ? environment[`${name}_FILE`] : undefined
  if (file && environment[name]) {
    problems.push(`${name} and ${name}_FILE are both set: set one of them`)
    return undefined
  }
  let text = environment[name] || fallback
  try {
    if (file) text = readFile(file).trim()
  } catch (error) {
    problems.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code}): a path of a readable file`)
    return undefined
  }
  if (!text) return undefined
  const value = entry.read(text)
  if (value === undefined)
    problems.push(`${name}${secret ? '' : `=${JSON.stringify(text)}`} is not accepted: ${accepts}`)
  return value
}

const findContradictions = (environment: Environment): string[] => {
  const url = environment.SVC_WEBHOOK_URL
  const secret = environment.SVC_WEBHOOK_SECRET || environment.SVC_WEBHOOK_SECRET_FILE
  if (url && !secret) return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_URL is']
  if (secret && !url) return ['SVC_WEBHOOK_URL is missing: it must be set when SVC_WEBHOOK_SECRET is']
  return []
}

const findWarnings = ({ webhookSecret, refreshGraceMs, accessTokenLifetimeMs, sessionLifetimeMs }: Read): string[] => [
  ...(webhookSecret && Buffer.byteLength(webhookSecret) < MIN_WEBHOOK_SECRET_BYTES
    ? [`SVC_WEBHOOK_SECRET is shorter than ${MIN_WEBHOOK_SECRET_BYTES} bytes and could be guessed`]
    : []),
  ...(accessTokenLifetimeMs > sessionLifetimeMs ? ['SVC_ACCESS_TOKEN_TTL is longer than SVC_SESSION_TTL'] : []),
  ...(refreshGraceMs > 600_000 ? ['SVC_REFRESH_GRACE is long: a stolen refresh token is noticed that much later'] : []),
]

const findUnknown = (environment: Environment): string[] => {
  const known = Object.values<Setting<unknown>>(SETTINGS).flatMap(({ name, secret }) =>
    secret ? [name, `${name}_FILE`] : [name],
  )
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !name.startsWith('SVC_TEST_') && !known.includes(name))
    .map((name) => `${name} is not a setting of svc`)
}
