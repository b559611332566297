import type { ProviderSettings } from '../oauth/providers/presets.ts'
import type { OwnTexts } from '../languages/languages.ts'
import { readOwnTexts, type ReadTexts } from '../languages/own-texts.ts'
import { readProviders } from './provider-config.ts'
import { findConflicts, findUnreadableCertificates } from './conflicts.ts'
import { validNames } from './provider-parsers.ts'
import { relyingPartyIdOf } from './relying-party.ts'
import { type Environment, readSetting } from './setting.ts'
import { type ReadSettings, SETTINGS } from './settings.ts'
import { findUnknownSettings, findWarnings, type SecretFiles } from './warnings.ts'

/** The configuration: the value of each setting in `settings.ts`, with what follows from several of them. */
export type Config = Omit<ReadSettings, 'emailVerification' | 'oauthProviders' | 'passkeys' | 'relyingPartyId'> & {
  emailVerification: NonNullable<ReadSettings['emailVerification']>
  /** They are in the order of their buttons. */
  oauthProviders: ProviderSettings[]
  /** The domain that passkeys belong to (WebAuthn section 4, RP ID); undefined where there are no passkeys. */
  relyingPartyId: string | undefined
  /** These are the texts of `SVC_TEXTS`. */
  ownTexts: OwnTexts | undefined
  /** Settings that the service accepts although they are unsafe or have no effect, one line each. */
  warnings: string[]
}

/** The public origin when `SVC_BASE_URL` is not set. */
export const defaultBaseUrl = (port: number): string => new URL(`http://localhost:${port}`).origin

/** The name that pages and messages show. */
export const appNameOf = ({ appName }: Pick<Config, 'appName'>, baseUrl: string): string =>
  appName ?? new URL(baseUrl).hostname

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
  const texts = settings.textsFolder === undefined ? undefined : readTextsOf(settings)
  errors.push(
    ...(texts?.errors ?? []),
    ...findConflicts(environment, settings, texts?.texts),
    ...findUnreadableCertificates(settings, readFile),
  )
  const unknown = findUnknownSettings(environment, names)
  if (errors.length > 0) throw new ConfigError(errors, unknown)
  return {
    ...settings,
    emailVerification: settings.emailVerification ?? (settings.smtp ? 'optional' : 'off'),
    oauthProviders,
    relyingPartyId: relyingPartyIdOf(settings),
    ownTexts: texts?.texts,
    warnings: [...(texts?.warnings ?? []), ...findWarnings(settings, { environment, ...files }), ...unknown],
  }
}

const readTextsOf = ({ textsFolder = '', clientScopes }: ReadSettings): ReadTexts => {
  const { texts, errors, warnings } = readOwnTexts(textsFolder, { scopes: clientScopes?.map(({ name }) => name) })
  return { texts, errors: errors.map(ofTexts), warnings: warnings.map(ofTexts) }
}

const ofTexts = (line: string): string => `SVC_TEXTS: ${line}`
