import { writeFileSync } from 'node:fs'
import { SETTINGS } from '../src/settings.ts'

/** Where the reference of the settings is kept. */
export const CONFIGURATION_FILE = new URL('../docs/configuration.md', import.meta.url)

const HEAD = `<!-- Written by "npm run docs" from the table in src/config.ts. Do not edit. -->

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

| variable | default | accepts | meaning |
| --- | --- | --- | --- |
`

interface Entry {
  name: string
  meaning: string
  accepts: string
  fallback?: string
  fallbackShown?: string
  secret?: boolean
}

const inCell = (text: string): string => text.replaceAll('|', '\\|')

const defaultOf = ({ fallback, fallbackShown }: Entry): string =>
  fallback ? `\`${fallback}\`` : (fallbackShown ?? 'none')

const nameOf = ({ name, secret }: Entry): string => (secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``)

const row = (entry: Entry): string =>
  `| ${[nameOf(entry), defaultOf(entry), entry.accepts, entry.meaning].map(inCell).join(' | ')} |\n`

/** `docs/configuration.md`, as the table of settings says it. */
export const configurationPage = (): string => HEAD + Object.values<Entry>(SETTINGS).map(row).join('')

if (import.meta.main) writeFileSync(CONFIGURATION_FILE, configurationPage())
