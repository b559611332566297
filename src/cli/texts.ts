import { readCatalogue } from '../languages/languages.ts'
import { readOwnTexts } from '../languages/own-texts.ts'
import { textKeysOf } from '../languages/text-rules.ts'
import { canonicalTag } from '../lib/language-tag.ts'
import { parser } from '../config/parsers.ts'
import { AppError } from '../lib/errors.ts'
import type { Config } from '../config/config.ts'
import { command, group } from './command/command.ts'
import { print, printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

const tag = parser('the tag of a language, such as de or pt-BR', canonicalTag)

interface TextRow {
  key: string
  text: string
  /** This tells whether `SVC_TEXTS` has it. */
  isOwn: boolean
}

const scopesOf = ({ clientScopes }: Config): string[] => clientScopes.map(({ name }) => name)

/** Lists all texts of a language as they are in effect. */
const rowsOf = (config: Config, language: string): TextRow[] => {
  const own = config.ownTexts?.get(language) ?? {}
  const base = readCatalogue(language)
  return [...textKeysOf(language, scopesOf(config)).keys()].flatMap((key) => {
    const text = own[key] ?? base[key] ?? base[key.replace(/_[a-z]+$/, '_other')]
    return typeof text === 'string' ? [{ key, text, isOwn: Object.hasOwn(own, key) }] : []
  })
}

const COLUMNS: Column<TextRow>[] = [
  { title: 'key', value: ({ key }) => key },
  { title: 'text', value: ({ text }) => text, minWidth: 20, tone: ({ isOwn }) => (isOwn ? 'bold' : undefined) },
]

const list = command({
  args: { name: '[tag]', text: 'the language; English if left out', parser: tag },
  text: 'list the texts of a language by their keys, with own ones in bold type',
  examples: ['svc texts list', 'svc texts list de --json'],
  async run(call, language: string | undefined) {
    await call.list([rowsOf(call.loadConfig(), language ?? 'en')], {
      columns: COLUMNS,
      toJson: ({ key, text, isOwn }) => ({ key, text, own: isOwn }),
      empty: 'there are no texts',
    })
  },
})

/** A file that is not good would keep the configuration from being read. */
const WITHOUT_TEXTS = { SVC_TEXTS: '', SVC_LANGUAGE: '', SVC_LANGUAGES: '' }

const missingIn = (language: string, own: Readonly<Record<string, string>>): number =>
  [...textKeysOf(language).keys()].filter((key) => !Object.hasOwn(own, key)).length

const check = command({
  args: '[folder]',
  text: 'check the files of own texts, by default those of SVC_TEXTS',
  examples: ['svc texts check', 'svc texts check ./texts'],
  async run(call, folder: string | undefined) {
    const { environment, loadConfig, usageError } = call
    const checked = folder ?? (environment.SVC_TEXTS || usageError('name a folder, or set SVC_TEXTS'))
    const scopes = scopesOf(loadConfig({ ...environment, ...WITHOUT_TEXTS }))
    const read = readOwnTexts(checked, { scopes })
    for (const warning of read.warnings) printNotice(`warning: ${warning}`)
    if (read.errors.length > 0) throw new AppError('unprocessable', read.errors.join('\n'))
    const files = [...read.texts].map(([language, own]) => ({
      language,
      texts: Object.keys(own).length,
      missing: missingIn(language, own),
    }))
    const lines = files.map((file) => `${file.language}: ${file.texts} own texts, ${file.missing} others`)
    await call.result({ files }, lines.join('\n') || 'there are no files')
  },
})

const exported = command({
  args: { name: '<tag>', text: 'the language', parser: tag },
  text: 'print all texts of a language as a file of own texts, to begin with',
  examples: ['svc texts export de > texts/de.json', 'svc texts export cs > texts/cs.json'],
  notes: 'A language that svc does not have begins with English texts, and all forms of its plurals.',
  json: false,
  run: async (call, language: string) => {
    const rows = rowsOf(call.loadConfig(), language).map(({ key, text }) => [key, text])
    await print(`${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
  },
})

export const texts = group({
  text: 'show, check and export the texts of pages and messages',
  examples: ['svc texts list', 'svc texts check ./texts', 'svc texts export de'],
  commands: { list, check, export: exported },
})
