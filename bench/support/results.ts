import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drawBudgets } from '../pictures/budget-picture.ts'
import { drawLimits } from '../pictures/limits-picture.ts'
import { THEMES } from '../pictures/theme.ts'
import { formatMarkdown, type Report } from './report.ts'

/** Every benchmark, in the order of the tables. */
export const NAMES = [
  'user',
  'mixed',
  'refresh',
  'login',
  'storm',
  'overload',
  'connections',
  'timing',
  'page',
  'start',
  'dev',
  'sdk-start',
  'sdk-verify',
  'memory',
  'soak',
  'soak-postgres',
  'budget',
  'postgres',
  'capacity',
  'copy',
  'scale',
  'search',
  'admin',
  'clients',
  'revocations',
  'peers',
] as const

export type Name = (typeof NAMES)[number]

/** The last report of each benchmark, with the machine that it ran on. */
export type Results = Partial<Record<Name, Report & { machine: string }>>

/** Benchmarks whose baseline is what the machine can do at most. */
const AGAINST_THE_LIMIT: readonly Name[] = ['user', 'mixed', 'refresh', 'login', 'storm', 'page', 'postgres']

const FOLDER = fileURLToPath(new URL('..', import.meta.url))
const STORED = `${FOLDER}/measured.json`
const MEASURED = /(<!-- measured: begin -->\n)[^]*(<!-- measured: end -->)/

export const readResults = (): Results => JSON.parse(readFileSync(STORED, 'utf8')) as Results

/** The files that show the results, below `bench/`, with their content. */
export const render = (results: Results): Map<string, string> => {
  const limits = AGAINST_THE_LIMIT.flatMap((name) => results[name] ?? [])
  const budgets = results.budget?.budgets ?? []
  const tables = NAMES.flatMap((name) => results[name] ?? [])
  const machines = [...new Set(tables.map(({ machine }) => machine))].join('; ')
  const measured = [`Machine: ${machines}.`, ...tables.map(formatMarkdown)].join('\n\n')
  const readme = readFileSync(`${FOLDER}/README.md`, 'utf8')
  return new Map([
    ['README.md', readme.replace(MEASURED, (_, begin: string, end: string) => `${begin}\n${measured}\n\n${end}`)],
    ...THEMES.flatMap((theme): [string, string][] => [
      [`images/limits-${theme.name}.svg`, drawLimits(limits, theme)],
      [`images/budget-${theme.name}.svg`, drawBudgets(budgets, theme)],
    ]),
  ])
}

/** Stores the results, and writes the tables and pictures. */
export const writeResults = (results: Results): void => {
  writeFileSync(STORED, `${JSON.stringify(results, undefined, 2)}\n`)
  mkdirSync(`${FOLDER}/images`, { recursive: true })
  for (const [file, content] of render(results)) writeFileSync(`${FOLDER}/${file}`, content)
}
