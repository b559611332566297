import { appNameOf, type Config, defaultBaseUrl, shownDatabase } from './config.ts'
import { shownSmtp } from './mail-parsers.ts'
import { listProviderSettings } from './provider-settings.ts'
import type { Environment, Setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

/** Settings come from these. */
export interface SettingSources {
  environment: Environment
  /** The names of variables that came from the `.env` file. */
  fromEnvFile: ReadonlySet<string>
}

/** What operators see of an installation beside its data. Commands and `svc serve` make it. */
export interface Inspection {
  listSettings(): Promise<readonly ShownSetting[]>
  /** Looks at the installation as `svc doctor` does: it takes some seconds. */
  examine(baseUrl: string): Promise<readonly InstallationFinding[]>
}

/** This is wrong with an installation. */
export interface InstallationFinding {
  code: string
  message: string
  cure: string
}

/** Shows every setting, its value and where it comes from. Secrets are hidden, and so are secret parts of URLs. */
export const showSettings = (loaded: Config, sources: SettingSources): ShownSetting[] => {
  const publicParts = new Map<string, string>([[SETTINGS.database.name, shownDatabase(loaded)]])
  if (loaded.smtp) publicParts.set(SETTINGS.smtp.name, shownSmtp(loaded.smtp))
  const settings = [...globalRows(loaded), ...providerRows(loaded)]
  return settings.map((setting) => describeSetting(setting, sources, publicParts.get(setting.name)))
}

/** Replaces the default of a setting that follows from others by the value in effect. */
const globalRows = (loaded: Config): Setting<unknown>[] => {
  const baseUrl = loaded.baseUrl ?? defaultBaseUrl(loaded.port)
  const inEffect = new Map<Setting<unknown>, string | undefined>([
    [SETTINGS.baseUrl, loaded.port === 0 ? undefined : baseUrl],
    [SETTINGS.appName, appNameOf(loaded, baseUrl)],
    [SETTINGS.relyingPartyId, loaded.relyingPartyId],
  ])
  return Object.values(SETTINGS).map((row: Setting<unknown>) => {
    const defaultValue = inEffect.get(row)
    return defaultValue === undefined ? row : { ...row, defaultValue }
  })
}

const providerRows = ({ oauthProviders }: Config): Setting<unknown>[] =>
  oauthProviders.flatMap(({ name, issuer }) =>
    // The issuer in effect contains the tenant, for Microsoft.
    listProviderSettings(name).map((row) => (row.key === 'issuer' ? { ...row, defaultValue: issuer } : row)),
  )

/** A setting as it may be shown; it is the JSON of `svc config`. */
export interface ShownSetting {
  name: string
  /** It is null if the setting is unset, or a secret. */
  value: string | null
  source: 'environment' | '.env' | 'default' | 'unset'
  secret: boolean
  meaning: string
}

/** `publicPart` is the part of a secret that may be shown, such as a URL without its password. */
const describeSetting = (
  { name, description: meaning, defaultValue, defaultText, secret = false, show }: Setting<unknown>,
  { environment, fromEnvFile }: SettingSources,
  publicPart: string | undefined,
): ShownSetting => {
  const variable = [name, ...(secret ? [`${name}_FILE`] : [])].find((candidate) => environment[candidate])
  if (variable) {
    const text = environment[variable] ?? ''
    const value = (secret ? publicPart : (show?.(text) ?? text)) ?? null
    return { name: variable, value, source: fromEnvFile.has(variable) ? '.env' : 'environment', secret, meaning }
  }
  const value = defaultValue ?? defaultText?.replaceAll('`', '') ?? null
  return { name, value, source: value === null ? 'unset' : 'default', secret, meaning }
}
