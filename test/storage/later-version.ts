import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { HASHES_AT_NO_COST, runSvc, spawnSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const LAUNCHER = new URL('../../bin/svc.js', import.meta.url).href

/** The SQL of a migration with its header: one text for both databases, or one for each. */
type Migration = string | { sqlite: string; postgres: string }

/** How a version of svc is started: by its own launcher, and with the usual options. */
export type Version = {
  startService: typeof startServiceProcess
  runSvc: typeof runSvc
  spawnSvc: typeof spawnSvc
}

const filesOf = (name: string, migration: Migration): [file: string, text: string][] =>
  typeof migration === 'string'
    ? [[`${name}.sql`, migration]]
    : Object.entries(migration).map(([dialect, text]) => [`${name}.${dialect}.sql`, text])

/** Starts this version, which finds more files in its folder of migrations. */
const launcherWith = (files: Record<string, string>): string => `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const files = ${JSON.stringify(files)}
const { readdirSync, readFileSync } = fs
const FOLDER = /[/]storage[/]migrations[/]([^/]*)$/
fs.readdirSync = (folder, ...options) =>
  [...readdirSync(folder, ...options), ...(FOLDER.test(String(folder)) ? Object.keys(files) : [])]
fs.readFileSync = (file, ...options) => files[FOLDER.exec(String(file))?.[1]] ?? readFileSync(file, ...options)
syncBuiltinESMExports()
await import(${JSON.stringify(LAUNCHER)})
`

/** This version of svc with more migrations, by name. */
export const laterVersion = (migrations: Record<string, Migration>): Version => {
  const launcher = path.join(temporaryDirectory(), 'later.mjs')
  const files = Object.entries(migrations).flatMap(([name, migration]) => filesOf(name, migration))
  writeFileSync(launcher, launcherWith(Object.fromEntries(files)))
  return {
    startService: (options) =>
      startServiceProcess({ ...options, env: { ...options?.env, NODE_OPTIONS: HASHES_AT_NO_COST }, launcher }),
    runSvc: (options) => runSvc({ ...options, launcher }),
    spawnSvc: (options) => spawnSvc({ ...options, launcher }),
  }
}

/** Adds a column and a table, which this version does not use. */
export const EXPAND = `-- works with: 001-schema
ALTER TABLE users ADD COLUMN nickname TEXT;
CREATE TABLE later (id TEXT PRIMARY KEY);
`

/** Removes a table, which the version after this one does not use any more. */
export const CONTRACT = `-- works with: 900-later
DROP TABLE later;
`
