import { closeSync, openSync, readSync } from 'node:fs'

/** What the first line of a test file says, and the databases that it is run on. */
const RUNS_ON = {
  '// Runs on SQLite and PostgreSQL.': ['sqlite', 'postgres'],
  '// Runs on SQLite.': ['sqlite'],
  '// Runs on PostgreSQL.': ['postgres'],
  // Without a database, or with databases of its own.
  '// Runs once.': ['sqlite'],
} as const satisfies Record<string, readonly string[]>

const MOST_BYTES = 64

const readFirstLine = (file: string): string => {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(MOST_BYTES)
    return bytes.toString('utf8', 0, readSync(descriptor, bytes)).split('\n', 1).join('')
  } finally {
    closeSync(descriptor)
  }
}

const isKnown = (line: string): line is keyof typeof RUNS_ON => Object.hasOwn(RUNS_ON, line)

/** The databases that a test file is run on, by its first line. Throws where that line says nothing about it. */
export const databasesOf = (file: string): readonly ('sqlite' | 'postgres')[] => {
  const line = readFirstLine(file)
  if (isKnown(line)) return RUNS_ON[line]
  throw new Error(`${file}: the first line must be one of\n  ${Object.keys(RUNS_ON).join('\n  ')}`)
}
