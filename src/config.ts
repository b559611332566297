import { availableParallelism } from 'node:os'
import type { ProviderSettings } from './oauth/presets.ts'
import { readProviders } from './provider-config.ts'
import { providerOf, settingsOf } from './provider-settings.ts'
import { usableNames, variablesBegin } from './provider-setting-kinds.ts'
import { type Environment, isGiven, readSetting } from './setting-reading.ts'
import { SETTINGS, type Setting } from './settings.ts'
import { EVENT_TYPES, type EventType } from './webhooks/event-types.ts'

type Settings = typeof SETTINGS
type WithFallback = { [K in keyof Settings]: K extends OptionalKey ? never : K }[keyof Settings]
/** Settings without a default that can be written down. */
type OptionalKey =
  | 'baseUrl'
  | 'metricsPort'
  | 'secret'
  | 'previousSecret'
  | 'audiences'
  | 'hashesAtOnce'
  | 'oauthProviders'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookEvents'
  | 'appName'
  | 'logoUrl'
type ValueOf<S> = S extends Setting<infer T> ? T : never

type Read = { [K in WithFallback]: ValueOf<Settings[K]> } & { [K in OptionalKey]?: ValueOf<Settings[K]> }

/** The settings as read, and what follows from them. */
export type Config = Omit<Read, 'audiences' | 'hashesAtOnce' | 'oauthProviders' | 'webhookEvents'> & {
  audiences: string[]
  hashesAtOnce: number
  /** In the order of their buttons. */
  oauthProviders: ProviderSettings[]
  webhookEvents: readonly EventType[]
  /** Mistakes that do not keep the service from starting. */
  warnings: string[]
}

/** The public origin when nothing was said. */
export const defaultBaseUrl = (port: number): string => new URL(`http://localhost:${port}`).origin

/** The URL of the database without its password. */
export const shownDatabase = ({ database }: Pick<Config, 'database'>): string =>
  database.kind === 'sqlite' ? `sqlite:${database.file}` : database.target.shown

/** All that is wrong with the configuration, a line each. */
export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type { Environment }

const MIN_WEBHOOK_SECRET_BYTES = 16

/** Reads the settings; `readFile` is for variables that name a file. Throws `ConfigError` with every mistake at once. */
export const readConfig = (environment: Environment, readFile: (path: string) => string): Config => {
  const problems: string[] = []
  const read: Record<string, unknown> = {}
  const source = { environment, readFile, problems }
  for (const [key, entry] of Object.entries(SETTINGS)) read[key] = readSetting(entry, source)
  const settings = read as Read
  const names = usableNames(environment[SETTINGS.oauthProviders.name] ?? '')
  const oauthProviders = readProviders(names, source)
  problems.push(...findContradictions(environment, settings), ...findUnreadable(settings, readFile))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    ...settings,
    audiences: settings.audiences ?? [],
    hashesAtOnce: settings.hashesAtOnce ?? Math.max(1, Math.floor(availableParallelism() / settings.workers)),
    oauthProviders,
    webhookEvents: settings.webhookEvents ?? EVENT_TYPES,
    warnings: [...findWarnings(settings), ...findUnknown(environment, names)],
  }
}

const findContradictions = (environment: Environment, { database, port, metricsPort }: Read): string[] => [
  ...findHalfWebhook(environment),
  ...(metricsPort !== undefined && metricsPort === port
    ? ['SVC_METRICS_PORT and SVC_PORT are the same: metrics take a port of their own']
    : []),
  ...(isGiven(SETTINGS.previousSecret, environment) && !isGiven(SETTINGS.secret, environment)
    ? ['SVC_SECRET is missing: it must be set when SVC_SECRET_PREVIOUS is']
    : []),
  ...(database?.kind === 'postgres' && !environment.SVC_SECRET && !environment.SVC_SECRET_FILE
    ? ['SVC_SECRET is missing: with PostgreSQL it must be set, to the same for every process']
    : []),
]

const findHalfWebhook = (environment: Environment): string[] => {
  const url = environment.SVC_WEBHOOK_URL
  const secret = environment.SVC_WEBHOOK_SECRET || environment.SVC_WEBHOOK_SECRET_FILE
  if (url && !secret) return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_URL is']
  if (secret && !url) return ['SVC_WEBHOOK_URL is missing: it must be set when SVC_WEBHOOK_SECRET is']
  return []
}

/** Certificates of the database: a start tells of them with all the rest, and not by the first connection. */
const findUnreadable = ({ database }: Read, readFile: (path: string) => string): string[] => {
  if (database?.kind !== 'postgres') return []
  const { rootCertificateFile, certificateFile, keyFile } = database.target.tls
  const sslrootcert = rootCertificateFile === 'system' ? undefined : rootCertificateFile
  return Object.entries({ sslrootcert, sslcert: certificateFile, sslkey: keyFile }).flatMap(([parameter, file]) => {
    if (file === undefined) return []
    try {
      readFile(file)
      return []
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return [`SVC_DATABASE_URL: ${parameter}=${JSON.stringify(file)} cannot be read (${code})`]
    }
  })
}

const findWarnings = ({ webhookSecret, refreshGraceMs, accessTokenLifetimeMs, sessionLifetimeMs }: Read): string[] => [
  ...(webhookSecret && Buffer.byteLength(webhookSecret) < MIN_WEBHOOK_SECRET_BYTES
    ? [`SVC_WEBHOOK_SECRET is shorter than ${MIN_WEBHOOK_SECRET_BYTES} bytes and could be guessed`]
    : []),
  ...(accessTokenLifetimeMs > sessionLifetimeMs ? ['SVC_ACCESS_TOKEN_TTL is longer than SVC_SESSION_TTL'] : []),
  ...(refreshGraceMs > 600_000 ? ['SVC_REFRESH_GRACE is long: a stolen refresh token is noticed that much later'] : []),
]

const findUnknown = (environment: Environment, providers: string[]): string[] => {
  const known = [...Object.values<Setting<unknown>>(SETTINGS), ...providers.flatMap(settingsOf)].flatMap(
    ({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]),
  )
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !name.startsWith('SVC_TEST_') && !known.includes(name))
    .flatMap((name) => {
      const provider = providerOf(name)
      const isListed = providers.some((listed) => name.startsWith(variablesBegin(listed)))
      if (provider === undefined || isListed) return [`${name} is not a setting of svc`]
      // Set for a provider that was turned off, or empty in a file that has them all.
      return environment[name] ? [`${name} has no effect: SVC_OAUTH_PROVIDERS does not name "${provider}"`] : []
    })
}
