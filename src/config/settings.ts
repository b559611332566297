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
      'How long browsers use only https for this host after a visit (`Strict-Transport-Security`), such as `8760h`. Applies ' +
      'to the application too; needs an https `SVC_BASE_URL`.',
    fallbackShown: 'off',
    ...duration(),
  }),
  host: setting({ name: 'SVC_HOST', meaning: 'Address to listen on.', fallback: '127.0.0.1', ...host }),
  port: setting({
    name: 'SVC_PORT',
    meaning: 'Port to listen on; 0 picks a free one.',
    fallback: '8080',
    ...wholeNumber(0, 65_535),
  }),
  metricsPort: setting({
    name: 'SVC_METRICS_PORT',
    meaning: 'Port that serves `/auth/metrics` to Prometheus. Keep it private: no proxy should lead to it.',
    fallbackShown: 'off',
    ...wholeNumber(1, 65_535),
  }),
  metricsHost: setting({
    name: 'SVC_METRICS_HOST',
    meaning:
      'Address to listen on for Prometheus, independent of `SVC_HOST`. Anyone who can reach it can read the metrics.',
    fallback: '127.0.0.1',
    ...host,
  }),
  maxConnections: setting({
    name: 'SVC_MAX_CONNECTIONS',
    meaning: 'Maximum number of open connections in each process. Further connections are closed unread.',
    fallback: '10000',
    ...wholeNumber(1, 1_000_000),
  }),
  workers: setting({
    name: 'SVC_WORKERS',
    meaning: 'Number of worker processes that share the port. A supervisor process replaces workers that die.',
    fallback: '1',
    ...processes,
  }),
  database: setting({
    name: 'SVC_DATABASE_URL',
    meaning: 'Database of the service. A SQLite file and its folder are created at the first start.',
    fallback: 'sqlite:data/svc.db',
    secret: true,
    ...databaseUrl,
  }),
  databasePool: setting({
    name: 'SVC_DATABASE_POOL',
    meaning: 'Maximum number of connections to PostgreSQL in each process.',
    fallback: '10',
    ...wholeNumber(1, 1000),
  }),
  databaseTimeoutMs: setting({
    name: 'SVC_DATABASE_TIMEOUT',
    meaning: 'Time limit for getting a connection to PostgreSQL and its answer. After it, a request is answered 503.',
    fallback: '3s',
    ...timeout,
  }),
  secret: setting({
    name: 'SVC_SECRET',
    meaning: 'Root secret that protects signing keys and refresh tokens. Keep it apart from backups of the database.',
    fallbackShown: 'created at the first start, in svc.secret beside the SQLite file; none with PostgreSQL',
    secret: true,
    ...rootSecret,
  }),
  previousSecret: setting({
    name: 'SVC_SECRET_PREVIOUS',
    meaning: 'Previous root secret, which is still accepted beside `SVC_SECRET` during a rotation.',
    fallbackShown: 'none; svc.secret.previous beside the SQLite file where `SVC_SECRET` is not set',
    secret: true,
    ...previousRootSecret,
  }),
  audiences: setting({
    name: 'SVC_AUDIENCES',
    meaning: 'Audiences that clients may request. Login uses the first one.',
    fallbackShown: 'any; `app` at login',
    ...audiences,
  }),
  accessTokenLifetimeMs: setting({
    name: 'SVC_ACCESS_TOKEN_TTL',
    meaning: 'Access token lifetime.',
    fallback: '10m',
    ...duration(),
  }),
  sessionLifetimeMs: setting({
    name: 'SVC_SESSION_TTL',
    meaning: 'Maximum session lifetime.',
    fallback: '720h',
    ...duration(),
  }),
  sessionIdleMs: setting({
    name: 'SVC_SESSION_IDLE_TTL',
    meaning: 'Idle session lifetime: how long a session lasts without a refresh.',
    fallback: '336h',
    ...duration(),
  }),
  refreshGraceMs: setting({
    name: 'SVC_REFRESH_GRACE',
    meaning: 'How long a replaced refresh token is still accepted, for tabs that refresh at the same time.',
    fallback: '30s',
    ...duration(),
  }),
  cookiePrefix: setting({
    name: 'SVC_COOKIE_PREFIX',
    meaning:
      '`on`: cookie names begin with `__Host-` (the refresh cookie with `__Secure-`), so that no other host of the domain ' +
      'can set the access or CSRF cookie. Needs https in `SVC_BASE_URL`.',
    fallback: 'off',
    ...onOff,
  }),
  signup: setting({
    name: 'SVC_SIGNUP',
    meaning: '`off`: new accounts can be created only on the command line.',
    fallback: 'on',
    ...onOff,
  }),
  trustProxy: setting({
    name: 'SVC_TRUST_PROXY',
    meaning: 'Proxies whose `X-Forwarded-*` headers are trusted, read from right to left.',
    fallback: 'loopback',
    ...networks,
  }),
  rateLimit: setting({
    name: 'SVC_RATE_LIMIT',
    meaning: 'Rate limits on logins, signups and sign-ins with a provider. `off` is for tests.',
    fallback: 'on',
    ...onOff,
  }),
  hashesAtOnce: setting({
    name: 'SVC_HASHES_AT_ONCE',
    meaning: 'Number of password hashes that each process computes at the same time.',
    fallbackShown: 'the number of cores, divided among the workers',
    ...wholeNumber(1, 1024),
  }),
  hashQueue: setting({
    name: 'SVC_HASH_QUEUE',
    meaning:
      'Number of logins and signups that may wait for a password hash in each process. Further ones are answered 503. ' +
      'Networks share the queue fairly.',
    fallback: '256',
    ...wholeNumber(0, 100_000),
  }),
  oauthProviders: setting({
    name: 'SVC_OAUTH_PROVIDERS',
    meaning: 'External providers for sign-in, in the order of their buttons.',
    ...providerNames,
  }),
  oauthTimeoutMs: setting({
    name: 'SVC_OAUTH_TIMEOUT',
    meaning: 'Time limit for each request to a provider.',
    fallback: '5s',
    ...timeout,
  }),
  webhookUrl: setting({
    name: 'SVC_WEBHOOK_URL',
    meaning: 'Endpoint that receives events. Webhooks are on when the URL and the secret are set.',
    ...webhookUrl,
  }),
  webhookSecret: setting({
    name: 'SVC_WEBHOOK_SECRET',
    meaning: 'Shared secret for the signature of events, 16 bytes or more.',
    secret: true,
    ...secretText,
  }),
  webhookEvents: setting({
    name: 'SVC_WEBHOOK_ENABLED_EVENTS',
    meaning: 'Event types to send.',
    fallbackShown: 'all',
    ...listOf(`comma-separated event types: ${EVENT_TYPES.join(', ')}`, (item): EventType | undefined =>
      EVENT_TYPES.find((type) => type === item),
    ),
  }),
  webhookTimeoutMs: setting({
    name: 'SVC_WEBHOOK_TIMEOUT',
    meaning: 'Time limit for a whole delivery.',
    fallback: '5s',
    ...timeout,
  }),
  webhookMaxAttempts: setting({
    name: 'SVC_WEBHOOK_MAX_ATTEMPTS',
    meaning:
      'Maximum number of delivery attempts. Above 1, a network error, 408, 429 or 5xx is retried with exponential backoff.',
    fallback: '1',
    ...wholeNumber(1, 100),
  }),
  webhookRetentionMs: setting({
    name: 'SVC_WEBHOOK_RETENTION',
    meaning:
      'How long events are kept after their delivery or last attempt, so that they can be listed and redelivered.',
    fallback: '720h',
    ...duration(),
  }),
  cleanupIntervalMs: setting({
    name: 'SVC_CLEANUP_INTERVAL',
    meaning: 'How often expired rows are deleted.',
    fallback: '10m',
    ...timeout,
  }),
  appName: setting({
    name: 'SVC_APP_NAME',
    meaning: 'Name of the application, shown on the pages.',
    fallbackShown: 'the host of `SVC_BASE_URL`',
    ...printable(60),
  }),
  logoUrl: setting({
    name: 'SVC_LOGO_URL',
    meaning: 'Image shown in place of the name: a path of the application or an absolute URL.',
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
    meaning: 'How long a stopping service still accepts connections while `/auth/ready` answers 503.',
    fallback: '500ms',
    ...timeout,
  }),
  logLevel: setting({
    name: 'SVC_LOG_LEVEL',
    meaning: 'Minimum log level.',
    fallback: 'info',
    ...oneOf<LogLevel>(...LOG_LEVELS),
  }),
}
