import { readFileSync } from 'node:fs'

type Databases = readonly ('sqlite' | 'postgres')[]

/** What the first line of a test file says, and the databases that it is run on. */
const RUNS_ON: Record<string, Databases> = {
  '// Runs on SQLite and PostgreSQL': ['sqlite', 'postgres'],
  '// Runs on SQLite': ['sqlite'],
  '// Runs on PostgreSQL': ['postgres'],
  // Without a database, or with databases of its own.
  '// Runs once': ['sqlite'],
}

const ALONE = ', alone'

/** What changes the whole process, for the files after it too. A mock of a test (`t.mock`) ends with the test. */
const CHANGES_PROCESS =
  /process\.env(?:\.\w+)? = |delete process\.env|Object\.assign\(process\b|process\.(?:chdir|memoryUsage)\(|(?<![.\w])mock\.\w+|globalThis\.\w+ = |setFlagsFromString|syncBuiltinESMExports/

/** Its tests after an `await` would not be those of the group, since Node does not follow promises here. */
const AWAITING_GROUP = /\bdescribe\([^\n]*\basync\b/

/** Where a test file is run. */
export type Place = {
  databases: Databases
  /** In a process of its own, where others share one. */
  isAlone: boolean
}

/** Where a test file is run, by its first line. Throws where that line does not say what the file needs. */
export const placeOf = (file: string): Place => {
  const text = readFileSync(file, 'utf8')
  const line = text.slice(0, text.indexOf('\n')).replace(/\.$/, '')
  const isAlone = line.endsWith(ALONE)
  const databases = RUNS_ON[isAlone ? line.slice(0, -ALONE.length) : line]
  if (databases === undefined) {
    const known = Object.keys(RUNS_ON).map((each) => `${each}.`)
    throw new Error(`${file}: the first line must be one of\n  ${known.join('\n  ')}`)
  }
  const [change] = CHANGES_PROCESS.exec(text) ?? []
  if (change !== undefined && !isAlone)
    throw new Error(`${file}: \`${change.trim()}\` changes the process. The first line must be\n  ${line}${ALONE}.`)
  if (AWAITING_GROUP.test(text)) throw new Error(`${file}: what a group needs is awaited before \`describe\``)
  return { databases, isAlone }
}
