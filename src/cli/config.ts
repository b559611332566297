import type { Command } from 'commander'
import { appNameOf, type Config, defaultBaseUrl, shownDatabase } from '../config/config.ts'
import { shownSmtp } from '../config/mail-parsers.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList, printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

interface ShownSetting {
  name: string
  /** Undefined if the setting is unset, or a secret. */
  value: string | undefined
  source: 'environment' | '.env' | 'default' | 'unset'
  isSecret: boolean
  description: string
}

/** `svc config`: the settings that a service started now would use. */
export const addConfig = (program: Command, context: CommandContext): void => {
  const config = addCommand(program, 'config', 'show every setting, its value and where it comes from', [
    'svc config',
    'svc config --json',
  ]).addHelpText(
    'after',
    '\nSecrets are never shown. URLs are shown without their query, and the URLs of database and mail server without password.',
  )
  withJson(config).action(async ({ json }: JsonOption) => {
    const loaded = context.loadConfig()
    for (const warning of loaded.warnings) printNotice(`warning: ${warning}`)
    const { SETTINGS } = await import('../config/settings.ts')
    const publicParts = new Map<string, string>([[SETTINGS.database.name, shownDatabase(loaded)]])
    if (loaded.smtp) publicParts.set(SETTINGS.smtp.name, shownSmtp(loaded.smtp))
    const settings: SettingRow[] = [...globalRows(SETTINGS, loaded), ...(await providerRows(loaded))]
    const shown = settings.map((setting) => describeSetting(setting, context, publicParts.get(setting.name)))
    await printList([shown], { columns: COLUMNS, toJson: settingToJson, empty: 'there are no settings' }, json)
  })
}

type SettingsTable = typeof import('../config/settings.ts').SETTINGS

/** A row of the table of settings. */
interface SettingRow {
  name: string
  description: string
  defaultValue?: string
  defaultText?: string
  secret?: boolean
  show?: (text: string) => string
}

/** With the values in effect of those that follow from others. */
const globalRows = (table: SettingsTable, config: Config): SettingRow[] => {
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const inEffect = new Map<SettingRow, string | undefined>([
    [table.baseUrl, config.port === 0 ? undefined : baseUrl],
    [table.appName, appNameOf(config, baseUrl)],
    [table.relyingPartyId, config.relyingPartyId],
  ])
  return Object.values(table).map((row: SettingRow) => {
    const defaultValue = inEffect.get(row)
    return defaultValue === undefined ? row : { ...row, defaultValue }
  })
}

const providerRows = async ({ oauthProviders }: Config): Promise<SettingRow[]> => {
  const { listProviderSettings: settingsOf } = await import('../config/provider-settings.ts')
  return oauthProviders.flatMap(({ name, issuer }) =>
    // The issuer in effect, which for Microsoft contains the tenant.
    settingsOf(name).map((row) => (row.key === 'issuer' ? { ...row, defaultValue: issuer } : row)),
  )
}

/** `publicPart` is the part of a secret that may be shown, such as a database URL without its password. */
const describeSetting = (
  setting: SettingRow,
  { environment, fromEnvFile }: CommandContext,
  publicPart: string | undefined,
): ShownSetting => {
  const { name, description, defaultValue, defaultText, secret: isSecret = false, show } = setting
  const variable = [name, ...(isSecret ? [`${name}_FILE`] : [])].find((candidate) => environment[candidate])
  if (variable) {
    const text = environment[variable] ?? ''
    const value = isSecret ? publicPart : (show?.(text) ?? text)
    return { name: variable, value, source: fromEnvFile.has(variable) ? '.env' : 'environment', isSecret, description }
  }
  const value = defaultValue ?? defaultText?.replaceAll('`', '')
  return { name, value, source: value === undefined ? 'unset' : 'default', isSecret, description }
}

const valueText = ({ value, source }: ShownSetting): string => value ?? (source === 'unset' ? '' : '(hidden)')

const isConfigured = ({ source }: ShownSetting): boolean => source === 'environment' || source === '.env'

const COLUMNS: Column<ShownSetting>[] = [
  { title: 'setting', value: ({ name }) => name },
  { title: 'value', value: valueText, minWidth: 12, tone: (shown) => (isConfigured(shown) ? 'bold' : undefined) },
  { title: 'from', value: ({ source }) => source, optional: true },
]

const settingToJson = ({ name, value, source, isSecret, description }: ShownSetting) => ({
  name,
  value: value ?? null,
  source,
  secret: isSecret,
  meaning: description,
})
