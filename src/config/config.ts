import { availableParallelism } from 'node:os'
import type { ProviderSettings } from '../oauth/providers/presets.ts'
import { EVENT_TYPES, type EventType } from '../webhooks/event-types.ts'
import { readProviders } from './provider-config.ts'
import { validNames } from './provider-parsers.ts'
import { type Environment, isSet, readSetting } from './read-setting.ts'
import { SETTINGS, type SettingValues } from './settings.ts'
import { findUnknownSettings } from './unknown-settings.ts'
import { findWarnings, type SecretFiles } from './warnings.ts'

/** Settings without a default value: unset, they are undefined. */
type OptionalKey =
  | 'baseUrl'
  | 'metricsPort'
  | 'hstsMs'
  | 'secret'
  | 'previousSecret'
  | 'audiences'
  | 'hashesAtOnce'
  | 'oauthProviders'
  | 'emailDomains'
  | 'emailVerification'
  | 'smtp'
  | 'mailFrom'
  | 'supportUrl'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookEvents'
  | 'appName'
  | 'logoUrl'
type ReadSettings = Omit<SettingValues, OptionalKey> & Partial<Pick<SettingValues, OptionalKey>>

/** The configuration: the value of each setting in `settings.ts`, with defaults that depend on other settings. */
export type Config = Omit<
  ReadSettings,
  'audiences' | 'emailDomains' | 'emailVerification' | 'hashesAtOnce' | 'oauthProviders' | 'webhookEvents'
> & {
  audiences: string[]
  /** Empty: any. */
  emailDomains: string[]
  emailVerification: SettingValues['emailVerification']
  hashesAtOnce: number
  /** In the order of their buttons. */
  oauthProviders: ProviderSettings[]
  webhookEvents: readonly EventType[]
  /** Settings that the service accepts although they are unsafe or have no effect, one line each. */
  warnings: string[]
}

/** The public origin when `SVC_BASE_URL` is not set. */
export const defaultBaseUrl = (port: number): string => new URL(`http://localhost:${port}`).origin

/** The URL of the database without its password. */
export const shownDatabase = ({ database }: Pick<Config, 'database'>): string =>
  database.kind === 'sqlite' ? `sqlite:${database.file}` : database.connection.redactedUrl

/** Every error in the configuration, one line each. The warnings name unknown variables, which may be misspelled. */
export class ConfigError extends Error {
  readonly errors: string[]
  readonly warnings: string[]

  constructor(errors: string[], warnings: string[] = []) {
    super(errors.join('\n'))
    this.name = 'ConfigError'
    this.errors = errors
    this.warnings = warnings
  }
}

export type { Environment }

const NO_FILES = { fromEnvFile: new Set<string>(), modeOf: () => undefined }

/**
 * Reads every setting from the environment. `readFile` reads the file that a variable ending in `_FILE` names; `files`
 * is what the warnings about file permissions need. Throws `ConfigError` with all errors at once.
 */
export const readConfig = (
  environment: Environment,
  readFile: (path: string) => string,
  files: Omit<SecretFiles, 'environment'> = NO_FILES,
): Config => {
  const errors: string[] = []
  const source = { environment, readFile, errors }
  const read = Object.entries(SETTINGS).map(([key, setting]) => [key, readSetting(setting, source)])
  const settings = Object.fromEntries(read) as ReadSettings
  const names = validNames(environment[SETTINGS.oauthProviders.name] ?? '')
  const oauthProviders = readProviders(names, source)
  errors.push(...findConflicts(environment, settings), ...findUnreadableCertificates(settings, readFile))
  const unknown = findUnknownSettings(environment, names)
  if (errors.length > 0) throw new ConfigError(errors, unknown)
  return {
    ...settings,
    audiences: settings.audiences ?? [],
    emailDomains: settings.emailDomains ?? [],
    emailVerification: settings.emailVerification ?? (settings.smtp ? 'optional' : 'off'),
    hashesAtOnce: settings.hashesAtOnce ?? Math.max(1, Math.floor(availableParallelism() / settings.workers)),
    oauthProviders,
    webhookEvents: settings.webhookEvents ?? EVENT_TYPES,
    warnings: [...findWarnings(settings, { environment, ...files }), ...unknown],
  }
}

const findConflicts = (
  environment: Environment,
  { database, port, metricsPort, hstsMs, cookiePrefix, baseUrl }: ReadSettings,
): string[] => [
  ...findHalfWebhook(environment),
  ...(metricsPort !== undefined && metricsPort === port
    ? ['SVC_METRICS_PORT and SVC_PORT are the same: metrics need a separate port']
    : []),
  ...(cookiePrefix && isPlainHttp(baseUrl, environment)
    ? ['SVC_COOKIE_PREFIX=on needs a SVC_BASE_URL with https: browsers accept such cookies over https only']
    : []),
  ...(hstsMs !== undefined && isPlainHttp(baseUrl, environment)
    ? ['SVC_HSTS is set, and SVC_BASE_URL is not https: browsers accept Strict-Transport-Security over https only']
    : []),
  ...(isSet(SETTINGS.previousSecret, environment) && !isSet(SETTINGS.secret, environment)
    ? ['SVC_SECRET is missing: it must be set when SVC_SECRET_PREVIOUS is']
    : []),
  ...(database?.kind === 'postgres' && !environment.SVC_SECRET && !environment.SVC_SECRET_FILE
    ? ['SVC_SECRET is missing: with PostgreSQL it must be set, to the same value in every process']
    : []),
]

/** Whether the base URL is not https. An invalid one is not: it is an error already. */
const isPlainHttp = (baseUrl: string | undefined, { SVC_BASE_URL: text }: Environment): boolean =>
  baseUrl ? !baseUrl.startsWith('https:') : !text

const findHalfWebhook = (environment: Environment): string[] => {
  const url = environment.SVC_WEBHOOK_URL
  const secret = environment.SVC_WEBHOOK_SECRET || environment.SVC_WEBHOOK_SECRET_FILE
  if (url && !secret) return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_URL is']
  if (secret && !url) return ['SVC_WEBHOOK_URL is missing: it must be set when SVC_WEBHOOK_SECRET is']
  return []
}

/**
 * Reads the certificates of the database, so that a missing file is an error at the start and not at the first query.
 */
const findUnreadableCertificates = ({ database }: ReadSettings, readFile: (path: string) => string): string[] => {
  if (database?.kind !== 'postgres') return []
  const { rootCertificateFile, certificateFile, keyFile } = database.connection.tls
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
