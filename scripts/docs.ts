import { readFileSync, writeFileSync } from 'node:fs'
import { PROVIDER_SETTINGS } from '../src/config/provider-settings.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { PRESETS } from '../src/oauth/providers/presets.ts'
import { withImportTable } from './imports.ts'

/** The picture of the code, with the table of imports. */
const ARCHITECTURE_FILE = new URL('../docs/architecture.md', import.meta.url)

/** The reference of the settings. */
export const CONFIGURATION_FILE = new URL('../docs/configuration.md', import.meta.url)

const table = (...titles: string[]): string => `${cells(titles)}${cells(titles.map(() => '---'))}`

const cells = (texts: string[]): string => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |\n`

const HEAD = `<!-- Written by "npm run docs" from the tables in src/. Do not edit. -->

# Configuration

Every setting is an environment variable. All of them are optional for a first try of svc.

- svc also reads a \`.env\` file in the working directory. A variable in the environment takes precedence over the file.
- An empty variable counts as unset.
- Durations use the syntax of Go: \`300ms\`, \`1m30.5s\`, \`.5s\`, \`720h\`. There is no unit for days, and a number
  without a unit is refused.
- A secret can be read from a file: where the table lists a second variable that ends in \`_FILE\`, set that variable to
  the path of the file. Set only one of the two.
- All mistakes are printed at once, one line each, and the process ends with exit code 78. An unknown variable that begins
  with \`SVC_\` causes a warning.
- Settings are read at the start. A change needs a restart.

\`npm run --silent svc -- config\` prints the values in effect and the source of each value. It never prints secrets.

${table('variable', 'default', 'accepts', 'meaning')}`

const PROVIDERS = `
## External providers

\`SVC_OAUTH_PROVIDERS=google,corp\` puts two buttons on the login and signup pages. Each provider has its own settings. The
names of their variables contain the name of the provider in capitals, with \`_\` in place of \`-\`:
\`SVC_OAUTH_GOOGLE_CLIENT_ID\`, \`SVC_OAUTH_CORP_ISSUER\`. A provider with an incomplete configuration is an error; a
variable of a provider that is not listed causes a warning.

Register the redirect URI with the provider, which compares every character of it: \`SVC_BASE_URL\` followed by
\`/auth/oauth/google/callback\`, with the name as in \`SVC_OAUTH_PROVIDERS\`.

svc knows the providers in this table. Any other name stands for an OpenID Connect provider: svc discovers it at its
issuer, shows its name with a capital letter, and requests the scopes \`openid email profile\`.

${table('name', 'shown as', 'issuer', 'scopes')}`

const PROVIDER_TABLE = `
Settings of a provider, with its name in place of \`<NAME>\`:

${table('variable', 'default', 'accepts', 'meaning')}`

interface Entry {
  name: string
  description: string
  format: string
  defaultValue?: string
  defaultText?: string
  secret?: boolean
}

interface ProviderEntry extends Omit<Entry, 'name'> {
  ending: string
  /** The only provider that has this setting. */
  only?: string
  defaultOf?: unknown
  isRequired?: boolean
}

const defaultCell = ({ defaultValue, defaultText }: Entry): string =>
  defaultValue ? `\`${defaultValue}\`` : (defaultText ?? 'none')

const nameOf = ({ name, secret }: Entry): string => (secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``)

const row = (entry: Entry): string => cells([nameOf(entry), defaultCell(entry), entry.format, entry.description])

const presetRows = (): string =>
  [...PRESETS]
    .map(([name, { label, issuer = '', scopes }]) =>
      cells([`\`${name}\``, label, `\`${issuer}\``, `\`${scopes.join(' ')}\``]),
    )
    .join('')

const providerRow = ({ ending, only, defaultOf, isRequired, ...entry }: ProviderEntry): string => {
  const defaultText = defaultOf ? 'as above' : isRequired ? 'must be set' : entry.defaultText
  const name = `SVC_OAUTH_${only?.toUpperCase() ?? '<NAME>'}_${ending}`
  return row({ ...entry, name, ...(defaultText && { defaultText }) })
}

/** The content of `docs/configuration.md`, generated from the tables of settings. */
export const configurationPage = (): string =>
  [
    HEAD,
    ...Object.values<Entry>(SETTINGS).map(row),
    PROVIDERS,
    presetRows(),
    PROVIDER_TABLE,
    ...Object.values<ProviderEntry>(PROVIDER_SETTINGS).map(providerRow),
  ].join('')

if (import.meta.main) {
  writeFileSync(CONFIGURATION_FILE, configurationPage())
  writeFileSync(ARCHITECTURE_FILE, withImportTable(readFileSync(ARCHITECTURE_FILE, 'utf8')))
}
