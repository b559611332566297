import { availableParallelism } from 'node:os'
import type { ProviderSettings } from '../oauth/providers/presets.ts'
import { EVENT_TYPES, type EventType } from '../webhooks/event-types.ts'
import { readProviders } from './provider-config.ts'
import { usableNames } from './provider-parsers.ts'
import { type Environment, isGiven, readSetting } from './read-setting.ts'
import { SETTINGS, type Setting } from './settings.ts'
import { findUnknownSettings } from './unknown-settings.ts'
import { findWarnings, type SecretFiles } from './warnings.ts'

type Settings = typeof SETTINGS
type WithFallback = { [K in keyof Settings]: K extends OptionalKey ? never : K }[keyof Settings]
/** Settings without a default that can be written down. */
type OptionalKey =
  | 'baseUrl'
  | 'metricsPort'
  | 'hstsMs'
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

/** All that is wrong with the configuration, a line each, and what may have been meant to be a setting. */
export class ConfigError extends Error {
  readonly problems: string[]
  readonly warnings: string[]

  constructor(problems: string[], warnings: string[] = []) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
    this.warnings = warnings
  }
}

export type { Environment }

const NO_FILES = { fromEnvFile: new Set<string>(), modeOf: () => undefined }

/**
 * Reads the settings; `readFile` is for variables that name a file, `files` says who else can read them. Throws
 * `ConfigError` with every mistake at once.
 */
export const readConfig = (
  environment: Environment,
  readFile: (path: string) => string,
  files: Omit<SecretFiles, 'environment'> = NO_FILES,
): Config => {
  const problems: string[] = []
  const read: Record<string, unknown> = {}
  const source = { environment, readFile, problems }
  for (const [key, entry] of Object.entries(SETTINGS)) read[key] = readSetting(entry, source)
  const settings = read as Read
  const names = usableNames(environment[SETTINGS.oauthProviders.name] ?? '')
  const oauthProviders = readProviders(names, source)
  problems.push(...findContradictions(environment, settings), ...findUnreadable(settings, readFile))
  const unknown = findUnknownSettings(environment, names)
  if (problems.length > 0) throw new ConfigError(problems, unknown)
  return {
    ...settings,
    audiences: settings.audiences ?? [],
    hashesAtOnce: settings.hashesAtOnce ?? Math.max(1, Math.floor(availableParallelism() / settings.workers)),
    oauthProviders,
    webhookEvents: settings.webhookEvents ?? EVENT_TYPES,
    warnings: [...findWarnings(settings, { environment, ...files }), ...unknown],
  }
}

const findContradictions = (
  environment: Environment,
  { database, port, metricsPort, hstsMs, cookiePrefix, baseUrl }: Read,
): string[] => [
  ...findHalfWebhook(environment),
  ...(metricsPort !== undefined && metricsPort === port
    ? ['SVC_METRICS_PORT and SVC_PORT are the same: metrics need a separate port']
    : []),
  ...(cookiePrefix && isPlain(baseUrl, environment)
    ? ['SVC_COOKIE_PREFIX=on needs a SVC_BASE_URL with https: browsers accept such cookies over https only']
    : []),
  ...(hstsMs !== undefined && isPlain(baseUrl, environment)
    ? ['SVC_HSTS is set, and SVC_BASE_URL is not https: browsers accept Strict-Transport-Security over https only']
    : []),
  ...(isGiven(SETTINGS.previousSecret, environment) && !isGiven(SETTINGS.secret, environment)
    ? ['SVC_SECRET is missing: it must be set when SVC_SECRET_PREVIOUS is']
    : []),
  ...(database?.kind === 'postgres' && !environment.SVC_SECRET && !environment.SVC_SECRET_FILE
    ? ['SVC_SECRET is missing: with PostgreSQL it must be set, to the same value in every process']
    : []),
]

/** Whether the base URL is not https; one that cannot be read is a mistake of its own. */
const isPlain = (baseUrl: string | undefined, { SVC_BASE_URL: given }: Environment): boolean =>
  baseUrl ? !baseUrl.startsWith('https:') : !given

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
