import { availableParallelism } from 'node:os'
import { LOG_LEVELS, type LogLevel } from '../lib/log.ts'
import type { ColorScheme } from '../lib/theme.ts'
import { EVENT_TYPES, type EventType } from '../webhooks/event-types.ts'
import { clientHosts, clientScopes, clientTokenLifetime, resources } from './client-parsers.ts'
import { emailDomains, homePath, mailbox, smtpUrl, supportUrl } from './mail-parsers.ts'
import {
  audiences,
  blocklistFile,
  colour,
  languageTag,
  databaseUrl,
  domain,
  duration,
  durationOrZero,
  host,
  httpsOrigin,
  imageUrl,
  listOf,
  networks,
  oneOf,
  onOff,
  origin,
  parser,
  pageUrl,
  previousRootSecret,
  printable,
  rootSecret,
  secretText,
  styleFile,
  timeout,
  webhookUrl,
  wholeNumber,
} from './parsers.ts'
import { argon2Cost } from './hash-cost.ts'
import { providerNames } from './provider-parsers.ts'
import type { Setting, ValueOf } from './setting.ts'

/**
 * The table of settings, apart from those of each provider (`provider-settings.ts`). The type `Config`,
 * docs/configuration.md and `svc config` are derived from it. A row without a default may have no value.
 */
export const SETTINGS = {
  baseUrl: {
    name: 'SVC_BASE_URL',
    description: 'Public origin of the application and the service. With https, cookies are `Secure`.',
    defaultText: 'http://localhost:PORT',
    ...origin,
  },
  hstsMs: {
    name: 'SVC_HSTS',
    description:
      'How long browsers use only https for this host after a visit (`Strict-Transport-Security`), such as `8760h`. Applies ' +
      'to the application too; needs an https `SVC_BASE_URL`.',
    defaultText: 'off',
    ...duration(),
  },
  host: { name: 'SVC_HOST', description: 'Address to listen on.', defaultValue: '127.0.0.1', ...host },
  port: {
    name: 'SVC_PORT',
    description: 'Port to listen on; 0 picks a free one.',
    defaultValue: '8080',
    ...wholeNumber(0, 65_535),
  },
  metricsPort: {
    name: 'SVC_METRICS_PORT',
    description: 'Port that serves `/auth/metrics` to Prometheus. Keep it private: no proxy should lead to it.',
    defaultText: 'off',
    ...wholeNumber(1, 65_535),
  },
  metricsHost: {
    name: 'SVC_METRICS_HOST',
    description:
      'Address to listen on for Prometheus, independent of `SVC_HOST`. Anyone who can reach it can read the metrics.',
    defaultValue: '127.0.0.1',
    ...host,
  },
  adminUrl: {
    name: 'SVC_ADMIN_URL',
    description:
      'Origin of the pages for administrators (docs/administration.md), with https. Its host must not be that of ' +
      '`SVC_BASE_URL`, nor a parent domain of it.',
    defaultText: 'off',
    ...httpsOrigin,
  },
  adminPort: {
    name: 'SVC_ADMIN_PORT',
    description: 'Port for these pages, at `SVC_HOST`. The proxy leads `SVC_ADMIN_URL` there, and nothing else.',
    defaultText: 'off',
    ...wholeNumber(1, 65_535),
  },
  maxConnections: {
    name: 'SVC_MAX_CONNECTIONS',
    description: 'Maximum number of open connections in each process. Further connections are closed unread.',
    defaultValue: '10000',
    ...wholeNumber(1, 1_000_000),
  },
  database: {
    name: 'SVC_DATABASE_URL',
    description: 'Database of the service. A SQLite file and its folder are created at the first start.',
    defaultValue: 'sqlite:data/svc.db',
    secret: true,
    ...databaseUrl,
  },
  databasePool: {
    name: 'SVC_DATABASE_POOL',
    description: 'Maximum number of connections to PostgreSQL in each process.',
    defaultValue: '10',
    ...wholeNumber(1, 1000),
  },
  databaseTimeoutMs: {
    name: 'SVC_DATABASE_TIMEOUT',
    description:
      'Time limit for getting a connection to PostgreSQL and its answer, and for each write of SQLite to reach the disk. After it, a request is answered 503.',
    defaultValue: '3s',
    ...timeout,
  },
  secret: {
    name: 'SVC_SECRET',
    description:
      'Root secret that protects signing keys and refresh tokens. Keep it apart from backups of the database.',
    defaultText: 'created at the first start, in svc.secret beside the SQLite file; none with PostgreSQL',
    secret: true,
    ...rootSecret,
  },
  previousSecret: {
    name: 'SVC_SECRET_PREVIOUS',
    description: 'Previous root secret, which is still accepted beside `SVC_SECRET` during a rotation.',
    defaultText: 'none; svc.secret.previous beside the SQLite file where `SVC_SECRET` is not set',
    secret: true,
    ...previousRootSecret,
  },
  audiences: {
    name: 'SVC_AUDIENCES',
    description: 'Audiences that clients may request. Login uses the first one.',
    defaultText: 'any; `app` at login',
    unsetValue: [],
    ...audiences,
  },
  accessTokenLifetimeMs: {
    name: 'SVC_ACCESS_TOKEN_TTL',
    description: 'Access token lifetime.',
    defaultValue: '10m',
    ...duration(),
  },
  sessionLifetimeMs: {
    name: 'SVC_SESSION_TTL',
    description: 'Maximum session lifetime.',
    defaultValue: '720h',
    ...duration(),
  },
  sessionIdleMs: {
    name: 'SVC_SESSION_IDLE_TTL',
    description: 'Idle session lifetime: how long a session lasts without a refresh.',
    defaultValue: '336h',
    ...duration(),
  },
  refreshGraceMs: {
    name: 'SVC_REFRESH_GRACE',
    description: 'How long a replaced refresh token is still accepted, for tabs that refresh at the same time.',
    defaultValue: '30s',
    ...duration(),
  },
  cookiePrefix: {
    name: 'SVC_COOKIE_PREFIX',
    description:
      '`on`: cookie names begin with `__Host-` (the refresh cookie with `__Secure-`), so that no other host of the domain ' +
      'can set the access or CSRF cookie. Needs https in `SVC_BASE_URL`.',
    defaultValue: 'off',
    ...onOff,
  },
  signup: {
    name: 'SVC_SIGNUP',
    description:
      '`providers`: new accounts come from external providers only. `off`: from the command line only. Invitations work ' +
      'with all three.',
    defaultValue: 'on',
    ...oneOf('on', 'providers', 'off'),
  },
  passwords: {
    name: 'SVC_PASSWORDS',
    description: '`off`: nobody has a password; people sign in with providers, passkeys or `SVC_EMAIL_SIGN_IN`.',
    defaultValue: 'on',
    ...onOff,
  },
  passwordMinLength: {
    name: 'SVC_PASSWORD_MIN_LENGTH',
    description: 'Minimum number of characters of new passwords. Passwords that exist go on working.',
    defaultValue: '8',
    ...wholeNumber(8, 64),
  },
  passwordBlocklistFile: {
    name: 'SVC_PASSWORD_BLOCKLIST_FILE',
    description: 'List of passwords that nobody may choose, beside the built-in list of commonly used ones.',
    defaultText: 'none',
    ...blocklistFile,
  },
  passkeys: {
    name: 'SVC_PASSKEYS',
    description:
      '`off`: no passkeys are offered or accepted. They need https in `SVC_BASE_URL`, or `localhost` or a name below it, and no ' +
      'IP address; elsewhere they are off.',
    defaultValue: 'on',
    ...onOff,
  },
  relyingPartyId: {
    name: 'SVC_WEBAUTHN_RP_ID',
    description:
      'Domain that passkeys belong to: the host of `SVC_BASE_URL` or a parent domain. After a change, existing passkeys no ' +
      'longer work.',
    defaultText: 'the host of `SVC_BASE_URL`',
    ...domain,
  },
  secondFactor: {
    name: 'SVC_SECOND_FACTOR',
    description:
      'One-time codes from an authenticator app. `required`: users who sign in with a password alone set one up before they ' +
      'go on. `off`: never offered and never asked for.',
    defaultValue: 'optional',
    ...oneOf('off', 'optional', 'required'),
  },
  trustedBrowserMs: {
    name: 'SVC_TRUSTED_BROWSER_TTL',
    description: 'How long "Trust this browser" spares the code at login. 0: it is never offered.',
    defaultValue: '720h',
    ...durationOrZero,
  },
  usernames: {
    name: 'SVC_USERNAMES',
    description: '`off`: usernames are made of email addresses, never asked for and never shown.',
    defaultValue: 'on',
    ...onOff,
  },
  loginWith: {
    name: 'SVC_LOGIN_WITH',
    description: '`both`: people log in with their email address or their username, and the password.',
    defaultValue: 'email',
    ...oneOf('email', 'both'),
  },
  names: {
    name: 'SVC_NAMES',
    description:
      'Names of people. `off`: never asked for and never shown. `required`: users who sign up or accept an invitation ' +
      'give one.',
    defaultValue: 'off',
    ...oneOf('off', 'optional', 'required'),
  },
  emailDomains: {
    name: 'SVC_EMAIL_DOMAINS',
    description: 'Email domains that signup, providers and changes of email accept.',
    defaultText: 'any',
    unsetValue: [],
    ...emailDomains,
  },
  emailVerification: {
    name: 'SVC_EMAIL_VERIFICATION',
    description:
      '`optional`: a message after signup asks to confirm the address, and the account works in the meantime. `required`: no ' +
      'account before the link in the message was followed.',
    defaultText: '`optional` with `SVC_SMTP_URL`, `off` without',
    ...oneOf('off', 'optional', 'required'),
  },
  emailSignIn: {
    name: 'SVC_EMAIL_SIGN_IN',
    description:
      '`on`: people can log in with a code or a link that svc mails to them, in place of a password. Needs `SVC_SMTP_URL`.',
    defaultValue: 'off',
    ...onOff,
  },
  emailSignInWithPasskey: {
    name: 'SVC_EMAIL_SIGN_IN_WITH_PASSKEY',
    description:
      '`known`: where an account has a passkey, codes and links by mail work only in browsers in which its user has logged ' +
      'in before. `always`: in every browser.',
    defaultValue: 'known',
    ...oneOf('known', 'always'),
  },
  smtp: {
    name: 'SVC_SMTP_URL',
    description: 'Mail server. Mail is on when it is set. STARTTLS is required, unless the host is loopback.',
    defaultText: 'none: mail is off',
    secret: true,
    ...smtpUrl,
  },
  mailFrom: {
    name: 'SVC_MAIL_FROM',
    description: 'Sender of messages. Required with `SVC_SMTP_URL`.',
    ...mailbox,
  },
  mailTimeoutMs: {
    name: 'SVC_MAIL_TIMEOUT',
    description: 'Time limit for one attempt to hand over a message.',
    defaultValue: '10s',
    ...timeout,
  },
  mailNotices: {
    name: 'SVC_MAIL_NOTICES',
    description: '`off`: no notices of sign-ins from new browsers. All other notices are always sent.',
    defaultValue: 'on',
    ...onOff,
  },
  resetTtlMs: {
    name: 'SVC_RESET_TTL',
    description: 'Lifetime of links that reset a password.',
    defaultValue: '1h',
    ...duration(),
  },
  verifyTtlMs: {
    name: 'SVC_VERIFY_TTL',
    description: 'Lifetime of links that confirm an email address.',
    defaultValue: '24h',
    ...duration(),
  },
  inviteTtlMs: {
    name: 'SVC_INVITE_TTL',
    description: 'Lifetime of invitations.',
    defaultValue: '168h',
    ...duration(),
  },
  supportUrl: {
    name: 'SVC_SUPPORT_URL',
    description: 'Where people ask for help: linked at the foot of pages, and from messages.',
    defaultText: 'none',
    ...supportUrl,
  },
  termsUrl: {
    name: 'SVC_TERMS_URL',
    description:
      'Terms of use: linked at the foot of pages, and in a sentence above each button that can create an account.',
    defaultText: 'none',
    ...pageUrl,
  },
  privacyUrl: {
    name: 'SVC_PRIVACY_URL',
    description: 'Privacy policy: linked in the same places.',
    defaultText: 'none',
    ...pageUrl,
  },
  homeUrl: {
    name: 'SVC_HOME_URL',
    description: 'Path of the application where login without `return_to` and logout end.',
    defaultValue: '/',
    ...homePath,
  },
  afterSignupUrl: {
    name: 'SVC_AFTER_SIGNUP_URL',
    description:
      'Path of the application where people who have just created an account go first. Where a `return_to` was asked for, ' +
      'it is a query parameter of this path.',
    defaultText: 'none: they go where a login leads',
    ...homePath,
  },
  trustProxy: {
    name: 'SVC_TRUST_PROXY',
    description: 'Proxies whose `X-Forwarded-*` headers are trusted, read from right to left.',
    defaultValue: 'loopback',
    ...networks,
  },
  rateLimit: {
    name: 'SVC_RATE_LIMIT',
    description: 'Rate limits on logins, signups and sign-ins with a provider. `off` is for tests.',
    defaultValue: 'on',
    ...onOff,
  },
  argon2: {
    name: 'SVC_ARGON2',
    description:
      'Cost of password hashes (Argon2id). A login replaces a hash of another cost. Each hash at once holds `m` KiB of memory ' +
      '(`SVC_HASHES_AT_ONCE`).',
    defaultValue: 'm=19456,t=2,p=1',
    ...argon2Cost,
  },
  hashesAtOnce: {
    name: 'SVC_HASHES_AT_ONCE',
    description: 'Number of password hashes that each process computes at the same time.',
    defaultText: 'the number of cores',
    unsetValue: availableParallelism(),
    ...wholeNumber(1, 1024),
  },
  hashQueue: {
    name: 'SVC_HASH_QUEUE',
    description:
      'Number of logins and signups that may wait for a password hash in each process. Further ones are answered 503. ' +
      'Networks share the queue fairly.',
    defaultValue: '256',
    ...wholeNumber(0, 100_000),
  },
  oauthProviders: {
    name: 'SVC_OAUTH_PROVIDERS',
    description: 'External providers for sign-in, in the order of their buttons.',
    ...providerNames,
  },
  oauthTimeoutMs: {
    name: 'SVC_OAUTH_TIMEOUT',
    description: 'Time limit for each request to a provider.',
    defaultValue: '5s',
    ...timeout,
  },
  webhookUrl: {
    name: 'SVC_WEBHOOK_URL',
    description: 'Endpoint that receives events. Webhooks are on when the URL and the secret are set.',
    ...webhookUrl,
  },
  webhookSecret: {
    name: 'SVC_WEBHOOK_SECRET',
    description:
      'Shared secret for the signatures of events, 16 bytes or more. `whsec_` and base64 is what libraries of Standard ' +
      'Webhooks take.',
    secret: true,
    ...secretText,
  },
  previousWebhookSecret: {
    name: 'SVC_WEBHOOK_SECRET_PREVIOUS',
    description:
      'The secret before `SVC_WEBHOOK_SECRET`, while receivers change to the new one: `webhook-signature` is made with ' +
      'both.',
    secret: true,
    ...secretText,
  },
  webhookEvents: {
    name: 'SVC_WEBHOOK_ENABLED_EVENTS',
    description: 'Event types to send.',
    defaultText: 'all',
    unsetValue: [...EVENT_TYPES],
    ...listOf(`comma-separated event types: ${EVENT_TYPES.join(', ')}`, (item): EventType | undefined =>
      EVENT_TYPES.find((type) => type === item),
    ),
  },
  webhookTimeoutMs: {
    name: 'SVC_WEBHOOK_TIMEOUT',
    description: 'Time limit for a whole delivery.',
    defaultValue: '5s',
    ...timeout,
  },
  webhookMaxAttempts: {
    name: 'SVC_WEBHOOK_MAX_ATTEMPTS',
    description:
      'Maximum number of delivery attempts. Above 1, a network error, 408, 429 or 5xx is retried with exponential backoff.',
    defaultValue: '1',
    ...wholeNumber(1, 100),
  },
  webhookRetentionMs: {
    name: 'SVC_WEBHOOK_RETENTION',
    description:
      'How long events are kept after their delivery or last attempt, so that they can be listed and redelivered.',
    defaultValue: '720h',
    ...duration(),
  },
  clients: {
    name: 'SVC_CLIENTS',
    description:
      '`on`: svc is the OAuth 2.1 and OpenID Connect server of the application, for agents, native applications and ' +
      'further web applications.',
    defaultValue: 'off',
    ...onOff,
  },
  clientResources: {
    name: 'SVC_CLIENT_RESOURCES',
    description: 'Resources that tokens of clients may be for, as `aud` spells them.',
    unsetValue: [],
    ...resources,
  },
  clientScopes: {
    name: 'SVC_CLIENT_SCOPES',
    description:
      'Scopes of the application, each with what the consent page says, such as `notes:read=Read your notes`.',
    unsetValue: [],
    ...clientScopes,
  },
  clientHosts: {
    name: 'SVC_CLIENT_HOSTS',
    description:
      'Hosts of client metadata documents, and of the redirects of these and of registered clients. Name no host where ' +
      'strangers can put files.',
    unsetValue: [],
    ...clientHosts,
  },
  clientRegistration: {
    name: 'SVC_CLIENT_REGISTRATION',
    description: '`on`: anyone can register a public client (RFC 7591), for older agents.',
    defaultValue: 'off',
    ...onOff,
  },
  clientTokenLifetimeMs: {
    name: 'SVC_CLIENT_TOKEN_TTL',
    description: 'How long an access token of a client is valid.',
    defaultValue: '1h',
    ...clientTokenLifetime,
  },
  clientGrantLifetimeMs: {
    name: 'SVC_CLIENT_GRANT_TTL',
    description: 'How long a client keeps its access without using it. Every grant ends after a year.',
    defaultValue: '2160h',
    ...duration(),
  },
  auditRetentionMs: {
    name: 'SVC_AUDIT_RETENTION',
    description: 'How long the records of what happened are kept.',
    defaultValue: '2160h',
    ...duration(),
  },
  auditLog: {
    name: 'SVC_AUDIT_LOG',
    description: 'Whether the records of what happened are lines of the log too.',
    defaultValue: 'off',
    ...onOff,
  },
  cleanupIntervalMs: {
    name: 'SVC_CLEANUP_INTERVAL',
    description: 'How often expired rows are deleted.',
    defaultValue: '10m',
    ...timeout,
  },
  appName: {
    name: 'SVC_APP_NAME',
    description: 'Name of the application, on the pages and in messages.',
    defaultText: 'the host of `SVC_BASE_URL`',
    ...printable(60),
  },
  textsFolder: {
    name: 'SVC_TEXTS',
    description:
      'Folder with own texts, a file for each language such as `de.json`, which are laid over those of svc. A tag that svc ' +
      'does not have adds a language.',
    ...parser('the path of a folder', (text) => (text.includes('\0') ? undefined : text)),
  },
  language: {
    name: 'SVC_LANGUAGE',
    description: 'Language of pages and messages for people who name none that is offered.',
    defaultValue: 'en',
    ...languageTag,
  },
  languages: {
    name: 'SVC_LANGUAGES',
    description: 'Languages that are offered, such as `en, de, pt-BR`. With one, pages have no picker.',
    defaultText: 'all',
    ...listOf('comma-separated language tags, such as en, de or pt-BR', languageTag.parse),
  },
  logoUrl: {
    name: 'SVC_LOGO_URL',
    description: 'Image shown in place of the name: a path of the application or an absolute URL.',
    ...imageUrl,
  },
  logoDarkUrl: {
    name: 'SVC_LOGO_DARK_URL',
    description: 'The same for dark pages.',
    defaultText: '`SVC_LOGO_URL`',
    ...imageUrl,
  },
  faviconUrl: {
    name: 'SVC_FAVICON_URL',
    description: 'Icon of the pages in tabs and bookmarks: a path of the application or an absolute URL.',
    defaultText: 'the initial of the name on the accent colour',
    ...imageUrl,
  },
  colorScheme: {
    name: 'SVC_COLOR_SCHEME',
    description: 'Whether pages and messages are light or dark; with `auto`, as the device of each person is.',
    defaultValue: 'auto',
    ...oneOf<ColorScheme>('auto', 'light', 'dark'),
  },
  providersFirst: {
    name: 'SVC_PROVIDERS_FIRST',
    description: 'Whether the buttons of providers stand above the form of login and signup.',
    defaultValue: 'off',
    ...onOff,
  },
  accentColor: {
    name: 'SVC_ACCENT_COLOR',
    description: 'Colour of buttons and links on the pages and in messages, adjusted where it would be hard to read.',
    defaultValue: '#0f6b5c',
    ...colour,
  },
  ownStyle: {
    name: 'SVC_STYLE_FILE',
    description:
      'Path of a stylesheet of your own, which lies above that of the pages (see [look.md](look.md)). It is read at the start.',
    ...styleFile,
  },
  drainMs: {
    name: 'SVC_DRAIN',
    description: 'How long a stopping service still accepts connections while `/auth/ready` answers 503.',
    defaultValue: '500ms',
    ...timeout,
  },
  logLevel: {
    name: 'SVC_LOG_LEVEL',
    description: 'Minimum log level.',
    defaultValue: 'info',
    ...oneOf<LogLevel>(...LOG_LEVELS),
  },
} satisfies Record<string, Setting<unknown>>

export type ReadSettings = { [Key in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Key]> }
