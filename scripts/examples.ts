// `npm run examples` copies the examples and installs their packages for the tests in test/examples/, as `npm test`
// does.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  CLIENT_EXAMPLES,
  EXAMPLES,
  EXAMPLES_FOLDER,
  type Example,
  preparedFolder,
  STAMP,
  VERIFIERS,
} from '../test/support/examples/examples.ts'
import { buildSdk, INSTALLERS, InstallationError, run } from './example-packages.ts'

/** The examples that can run, and why others cannot. */
export type Preparation = { ready: string[]; problems: string[] }

const ROOT = path.join(import.meta.dirname, '..')
/** Folders that an example's README makes. */
const INSTALLED = ['node_modules', '.next', 'dist', '.venv', '.build']

/** What the installed packages depend on. */
const stampOf = ({ name, runtime }: Example): string => {
  const { version, inputs } = INSTALLERS[runtime]
  const hash = createHash('sha256').update(run(version, ROOT))
  const files = globSync(inputs(name), { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const file of files.map((entry) => path.join(entry.parentPath, entry.name)).toSorted())
    hash.update(file).update(readFileSync(file))
  return hash.digest('hex')
}

const isInstalled = (stamp: string, wanted: string): boolean =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted

/** Copies the files of an example, without what its README installs beside them. */
const copy = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, filter: (file) => !INSTALLED.includes(path.basename(file)) })

/** Moves a folder, to another file system, too. */
const move = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(path.dirname(to), { recursive: true })
  try {
    renameSync(from, to)
  } catch {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  }
}

/**
 * Copies an example to the cache and installs its packages, unless the same ones are there. They are installed in a
 * temporary folder: half an installation never counts, and Next.js compiles nothing below node_modules.
 */
const prepare = (example: Example, workshop: string): void => {
  const { name, runtime } = example
  const [source, kept] = [path.join(EXAMPLES_FOLDER, name), preparedFolder(name)]
  const wanted = stampOf(example)
  if (isInstalled(path.join(kept, STAMP), wanted)) return copy(source, kept)
  console.log(`Installing the packages of examples/${name}`)
  const sdk = path.join(workshop, 'sdk')
  if (['node', 'next', 'vite'].includes(runtime) && !existsSync(sdk)) buildSdk(sdk)
  const folder = path.join(workshop, 'examples', name)
  copy(source, folder)
  INSTALLERS[runtime].install(folder)
  writeFileSync(path.join(folder, STAMP), wanted)
  move(folder, kept)
}

/** Why something cannot run, or undefined. */
const findProblem = (attempt: () => unknown): string | undefined => {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (error instanceof InstallationError) return error.message
    throw error
  }
}

/** The examples, and curl, which lines of the documents use. */
const attempts = (workshop: string): [name: string, attempt: () => unknown][] => [
  ...[...EXAMPLES, ...CLIENT_EXAMPLES, ...VERIFIERS].map((example): [string, () => unknown] => [
    example.name,
    () => prepare(example, workshop),
  ]),
  ['curl', () => run(['curl', '--version'], ROOT)],
]

/**
 * Copies the examples to a cache, installs their packages there, and tells which of them can run. Without a runtime or
 * a network it tells why an example cannot.
 */
export const prepareExamples = (): Preparation => {
  if (process.env.SVC_TEST_EXAMPLES === 'off')
    return { ready: [], problems: ['The tests of the examples did not run: SVC_TEST_EXAMPLES is off.'] }
  const preparation: Preparation = { ready: [], problems: [] }
  const workshop = mkdtempSync(path.join(tmpdir(), 'svc-examples-'))
  try {
    for (const [name, attempt] of attempts(workshop)) {
      const problem = findProblem(attempt)
      if (problem === undefined) preparation.ready.push(name)
      else preparation.problems.push(`${name} did not run in the tests of the examples. ${problem}`)
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
  return preparation
}

if (import.meta.main) {
  const { ready, problems } = prepareExamples()
  for (const problem of problems) console.log(problem)
  console.log(`Examples that can run: ${ready.join(', ') || 'none'}`)
}
