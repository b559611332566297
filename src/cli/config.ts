import type { Command } from 'commander'
import { type Config, shownDatabase } from '../config/config.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { note, printList } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

interface Shown {
  name: string
  /** Undefined when it is not set, or must not be shown. */
  value: string | undefined
  source: 'environment' | '.env' | 'default' | 'unset'
  isSecret: boolean
  description: string
}

/** `svc config`: what the service would start with. */
export const addConfig = (program: Command, context: CommandContext): void => {
  const config = addCommand(program, 'config', 'show every setting, its value and where it comes from', [
    'svc config',
    'svc config --json',
  ]).addHelpText(
    'after',
    '\nSecrets are never shown, URLs without their query, and the one of the database without its password.',
  )
  withJson(config).action(async ({ json }: JsonOption) => {
    const read = context.loadConfig()
    for (const warning of read.warnings) note(`warning: ${warning}`)
    const { SETTINGS } = await import('../config/settings.ts')
    const openParts = new Map<string, string>([[SETTINGS.database.name, shownDatabase(read)]])
    const entries: Entry[] = [...Object.values(SETTINGS), ...(await providerEntries(read))]
    const shown = entries.map((entry) => describeSetting(entry, context, openParts.get(entry.name)))
    await printList([shown], { columns: COLUMNS, toJson: settingToJson, empty: 'there are no settings' }, json)
  })
}

interface Entry {
  name: string
  description: string
  defaultValue?: string
  defaultText?: string
  secret?: boolean
  show?: (text: string) => string
}

const providerEntries = async ({ oauthProviders }: Config): Promise<Entry[]> => {
  const { listProviderSettings: settingsOf } = await import('../config/provider-settings.ts')
  return oauthProviders.flatMap(({ name, issuer }) =>
    // The one that is in effect, with its tenant.
    settingsOf(name).map((entry) => (entry.key === 'issuer' ? { ...entry, defaultValue: issuer } : entry)),
  )
}

/** `openPart` is what may be shown of a secret. */
const describeSetting = (
  entry: Entry,
  { environment, fromEnvFile }: CommandContext,
  openPart: string | undefined,
): Shown => {
  const { name, description, defaultValue, defaultText, secret: isSecret = false, show } = entry
  const variable = [name, ...(isSecret ? [`${name}_FILE`] : [])].find((candidate) => environment[candidate])
  if (variable) {
    const text = environment[variable] ?? ''
    const value = isSecret ? openPart : (show?.(text) ?? text)
    return { name: variable, value, source: fromEnvFile.has(variable) ? '.env' : 'environment', isSecret, description }
  }
  const value = defaultValue ?? defaultText?.replaceAll('`', '')
  return { name, value, source: value === undefined ? 'unset' : 'default', isSecret, description }
}

const valueText = ({ value, source }: Shown): string => value ?? (source === 'unset' ? '' : '(hidden)')

const isOwn = ({ source }: Shown): boolean => source === 'environment' || source === '.env'

const COLUMNS: Column<Shown>[] = [
  { title: 'setting', value: ({ name }) => name },
  { title: 'value', value: valueText, least: 12, tone: (shown) => (isOwn(shown) ? 'bold' : undefined) },
  { title: 'from', value: ({ source }) => source, optional: true },
]

const settingToJson = ({ name, value, source, isSecret, description }: Shown) => ({
  name,
  value: value ?? null,
  source,
  secret: isSecret,
  meaning: description,
})
