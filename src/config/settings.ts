import { LOG_LEVELS, type LogLevel } from '../lib/log.ts'
import { EVENT_TYPES, type EventType } from '../webhooks/event-types.ts'
import {
  audiences,
  colour,
  databaseUrl,
  duration,
  host,
  imageUrl,
  type Kind,
  listOf,
  networks,
  oneOf,
  onOff,
  origin,
  previousRootSecret,
  printable,
  processes,
  rootSecret,
  secretText,
  timeout,
  webhookUrl,
  wholeNumber,
} from './parsers.ts'
import { providerNames } from './provider-parsers.ts'

export interface Setting<T> extends Kind<T> {
  name: `SVC_${string}`
  meaning: string
  /** As it would be written; left out where there is none. */
  fallback?: string
  /** What stands in the place of a default that depends on something. */
  fallbackShown?: string
  /** May also come as the path of a file in the variable with `_FILE` behind it, and is not shown as it is. */
  secret?: boolean
}

const setting = <T>(entry: Setting<T>): Setting<T> => entry

/** Every setting there is, but those of each provider (`provider-settings.ts`). The type, the reference in docs/ and `svc config` come from here. */
export const SETTINGS = {
  baseUrl: setting({
    name: 'SVC_BASE_URL',
    meaning: 'Public origin of the application and the service. With https, cookies are `Secure`.',
    fallbackShown: 'http://localhost:PORT',
    ...origin,
  }),
  hstsMs: setting({
    name: 'SVC_HSTS',
    meaning:
      'How long browsers that were here keep to https on this host (`Strict-Transport-Security`), such as `8760h`. It ' +
      'holds for the application too; needs an https `SVC_BASE_URL`.',
    fallbackShown: 'off',
    ...duration(),
  }),
  host: setting({ name: 'SVC_HOST', meaning: 'Address to listen on.', fallback: '127.0.0.1', ...host }),
  port: setting({
    name: 'SVC_PORT',
    meaning: 'Port to listen on; 0 takes a free one.',
    fallback: '8080',
    ...wholeNumber(0, 65_535),
  }),
  metricsPort: setting({
    name: 'SVC_METRICS_PORT',
    meaning: 'Port where Prometheus finds `/auth/metrics`. Not for the public: keep it from the proxy.',
    fallbackShown: 'off',
    ...wholeNumber(1, 65_535),
  }),
  metricsHost: setting({
    name: 'SVC_METRICS_HOST',
    meaning:
      'Address to listen on for Prometheus, whatever `SVC_HOST` is. Everyone who reaches it can read the metrics.',
    fallback: '127.0.0.1',
    ...host,
  }),
  maxConnections: setting({
    name: 'SVC_MAX_CONNECTIONS',
    meaning: 'Connections that each process holds open at once; past that, new ones are closed unread.',
    fallback: '10000',
    ...wholeNumber(1, 1_000_000),
  }),
  workers: setting({
    name: 'SVC_WORKERS',
    meaning: 'Processes on this machine that share the port, watched by one more that replaces those that die.',
    fallback: '1',
    ...processes,
  }),
  database: setting({
    name: 'SVC_DATABASE_URL',
    meaning: 'Where everything is kept. A SQLite file and its folder are made at first start.',
    fallback: 'sqlite:data/svc.db',
    secret: true,
    ...databaseUrl,
  }),
  databasePool: setting({
    name: 'SVC_DATABASE_POOL',
    meaning: 'Connections to PostgreSQL that each process holds at most.',
    fallback: '10',
    ...wholeNumber(1, 1000),
  }),
  databaseTimeoutMs: setting({
    name: 'SVC_DATABASE_TIMEOUT',
    meaning: 'Bounds getting a connection to PostgreSQL and the answer; past it, a request is answered 503.',
    fallback: '3s',
    ...timeout,
  }),
  secret: setting({
    name: 'SVC_SECRET',
    meaning: 'Root secret that protects signing keys and refresh tokens. Keep it apart from backups of the database.',
    fallbackShown: 'made at first start, in svc.secret beside the SQLite file; none with PostgreSQL',
    secret: true,
    ...rootSecret,
  }),
  previousSecret: setting({
    name: 'SVC_SECRET_PREVIOUS',
    meaning: 'Root secret that is accepted beside `SVC_SECRET` while one takes the place of the other.',
    fallbackShown: 'none; svc.secret.previous beside the SQLite file where `SVC_SECRET` is not set',
    secret: true,
    ...previousRootSecret,
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
  cookiePrefix: setting({
    name: 'SVC_COOKIE_PREFIX',
    meaning:
      '`on`: names of cookies begin with `__Host-` (that of the refresh token with `__Secure-`), so that no other host of ' +
      'the domain sets the access or CSRF cookie. Needs https in `SVC_BASE_URL`.',
    fallback: 'off',
    ...onOff,
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
    meaning: 'Limits on failed logins, on signups and on sign-ins by providers. `off` is for tests.',
    fallback: 'on',
    ...onOff,
  }),
  hashesAtOnce: setting({
    name: 'SVC_HASHES_AT_ONCE',
    meaning: 'Password hashes that each process computes at the same time.',
    fallbackShown: 'the number of cores, divided among the workers',
    ...wholeNumber(1, 1024),
  }),
  hashQueue: setting({
    name: 'SVC_HASH_QUEUE',
    meaning:
      'How many logins and signups may wait for their hash in each process; past that, 503. Networks share the places.',
    fallback: '256',
    ...wholeNumber(0, 100_000),
  }),
  oauthProviders: setting({
    name: 'SVC_OAUTH_PROVIDERS',
    meaning: 'External providers that people may sign in with, in the order of their buttons.',
    ...providerNames,
  }),
  oauthTimeoutMs: setting({
    name: 'SVC_OAUTH_TIMEOUT',
    meaning: 'Bounds each exchange with a provider.',
    fallback: '5s',
    ...timeout,
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
