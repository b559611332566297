import { writeFileSync } from 'node:fs'
import { PROVIDER_SETTINGS } from '../src/config/provider-settings.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { PRESETS } from '../src/oauth/providers/presets.ts'

/** Where the reference of the settings is kept. */
export const CONFIGURATION_FILE = new URL('../docs/configuration.md', import.meta.url)

const table = (...titles: string[]): string => `${cells(titles)}${cells(titles.map(() => '---'))}`

const cells = (texts: string[]): string => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |\n`

const HEAD = `<!-- Written by "npm run docs" from the tables in src/. Do not edit. -->

# Configuration

Every setting is an environment variable. None has to be set to try svc.

- A \`.env\` file in the working directory is read too. A variable that is set in the environment wins over it.
- An empty variable counts as unset.
- Durations are written as in Go: \`300ms\`, \`1m30.5s\`, \`.5s\`, \`720h\`. There is no unit for days, and a number
  without a unit is refused.
- A secret may come as the path of a file instead: the variables marked so have a twin with \`_FILE\` at its end. Set
  one of the two.
- All mistakes are printed at once, one line each, and the process ends with exit code 78. A variable that begins with
  \`SVC_\` and is none of these is a warning.
- Settings are read at the start. A change needs a restart.

\`npm run --silent svc -- config\` prints what is in effect and where each value comes from. Secrets are never shown.

${table('variable', 'default', 'accepts', 'meaning')}`

const PROVIDERS = `
## External providers

\`SVC_OAUTH_PROVIDERS=google,corp\` puts two buttons on the pages for login and signup. Each provider has settings of its
own, whose variables bear its name in capitals, with \`_\` for \`-\`: \`SVC_OAUTH_GOOGLE_CLIENT_ID\`,
\`SVC_OAUTH_CORP_ISSUER\`. The provider has to be told the address to which people come back, and compares every
character of it: \`SVC_BASE_URL\` and \`/auth/oauth/google/callback\` behind it, the name as in \`SVC_OAUTH_PROVIDERS\`.
A provider of which something is missing is a mistake; a variable of one that is not listed is a warning.

These names are known. Any other is the name of an OpenID Connect provider, which is discovered at its issuer, is shown
as its name with a capital, and is asked for \`openid email profile\`.

${table('name', 'shown as', 'issuer', 'scopes')}`

const PROVIDER_TABLE = `
Their settings, with the name in the place of \`<NAME>\`:

${table('variable', 'default', 'accepts', 'meaning')}`

interface Entry {
  name: string
  meaning: string
  accepts: string
  fallback?: string
  fallbackShown?: string
  secret?: boolean
}

interface ProviderEntry extends Omit<Entry, 'name'> {
  ending: string
  /** The provider of that name alone has it. */
  only?: string
  fallbackOf?: unknown
  isRequired?: boolean
}

const defaultOf = ({ fallback, fallbackShown }: Entry): string =>
  fallback ? `\`${fallback}\`` : (fallbackShown ?? 'none')

const nameOf = ({ name, secret }: Entry): string => (secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``)

const row = (entry: Entry): string => cells([nameOf(entry), defaultOf(entry), entry.accepts, entry.meaning])

const presetRows = (): string =>
  [...PRESETS]
    .map(([name, { label, issuer = '', scopes }]) =>
      cells([`\`${name}\``, label, `\`${issuer}\``, `\`${scopes.join(' ')}\``]),
    )
    .join('')

const providerRow = ({ ending, only, fallbackOf, isRequired, ...entry }: ProviderEntry): string => {
  const fallbackShown = fallbackOf ? 'as above' : isRequired ? 'must be set' : entry.fallbackShown
  const name = `SVC_OAUTH_${only?.toUpperCase() ?? '<NAME>'}_${ending}`
  return row({ ...entry, name, ...(fallbackShown && { fallbackShown }) })
}

/** `docs/configuration.md`, as the tables of settings say it. */
export const configurationPage = (): string =>
  [
    HEAD,
    ...Object.values<Entry>(SETTINGS).map(row),
    PROVIDERS,
    presetRows(),
    PROVIDER_TABLE,
    ...Object.values<ProviderEntry>(PROVIDER_SETTINGS).map(providerRow),
  ].join('')

if (import.meta.main) writeFileSync(CONFIGURATION_FILE, configurationPage())
