import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { secretFilesOf } from '../config/root-secret.ts'
import { SETTINGS } from '../config/settings.ts'
import { AppError } from '../lib/errors.ts'
import { systemClock } from '../lib/time.ts'
import type { Comparison } from '../storage/copy/copy.ts'
import { type Call, command, option, readOptionFile } from './command/command.ts'
import { print, printJson, printList, printNotice } from './terminal/output.ts'
import { createTerminalProgress } from './terminal/progress.ts'
import type { Column } from './terminal/table.ts'

type DatabaseTarget = Config['database']

const NOTES = `\
Stop every svc that uses the source first: changes that are written during the copy make it differ, which the
comparison at the end reports. No svc starts with an interrupted copy: delete it, and copy again to a new, empty
database. At the end both sides are read again and compared by counts and checksums.`

export const copy = command({
  text: 'copy users, sessions, keys and events to an empty database',
  examples: [
    'svc database copy --from sqlite:data/svc.db --to postgres://svc@db.example.com/svc',
    'svc database copy --from sqlite:data/svc.db --to-file /run/secrets/database-url',
    'svc database copy --from-file /run/secrets/database-url --to sqlite:/var/lib/svc/svc.db',
  ],
  notes: NOTES,
  options: {
    from: option.text('--from <url>', 'the database to copy, as in SVC_DATABASE_URL'),
    fromFile: option.text(
      '--from-file <file>',
      'a file that contains the URL: other users can see a password on the command line',
    ),
    to: option.text('--to <url>', 'the database to copy to'),
    toFile: option.text('--to-file <file>', 'a file that contains the URL'),
  },
  async run({ options: { from, fromFile, to, toFile }, json, usageError }) {
    const source = readTarget(usageError, '--from', from, fromFile)
    await copyAndReport(source, readTarget(usageError, '--to', to, toFile), json)
  },
})

/** Reads the URL of a database. Error messages do not repeat it: it may contain a password. */
const readTarget = (
  usageError: Call<unknown>['usageError'],
  option: '--from' | '--to',
  url: string | undefined,
  file: string | undefined,
): DatabaseTarget => {
  if ((url === undefined) === (file === undefined)) usageError(`give either ${option} or ${option}-file`)
  try {
    const target = SETTINGS.database.parse(
      file === undefined ? (url ?? '') : readOptionFile(`${option}-file`, file).trim(),
    )
    return target ?? usageError(`${option} is not accepted: ${SETTINGS.database.format}`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return usageError(`${option} is not accepted: ${error.message}`)
  }
}

const copyAndReport = async (from: DatabaseTarget, to: DatabaseTarget, json: boolean): Promise<void> => {
  const { START_OVER, locationName } = await import('../storage/copy/copy.ts')
  const names = { from: locationName(from), to: locationName(to) }
  const comparisons = await copyWithProgress(from, to)
  const isEqual = comparisons.every((comparison) => comparison.isEqual)
  const secret = secretSettings(from)
  if (json) await printJson({ ...names, equal: isEqual, tables: comparisons.map(comparisonToJson), secret })
  else await printList([comparisons], { columns: COLUMNS, toJson: comparisonToJson, empty: '' }, json)
  if (!isEqual) throw new AppError('conflict', `the copy differs from its source. ${START_OVER}`)
  if (!json) await print(`\n${names.to} is now a complete copy of ${names.from}.\n${nextSteps(to, secret)}`)
}

const copyWithProgress = async (from: DatabaseTarget, to: DatabaseTarget): Promise<Comparison[]> => {
  const { copyInstallation } = await import('../storage/copy/copy.ts')
  const progress = createTerminalProgress()
  let hasBegun = false
  try {
    return await copyInstallation({
      from,
      to,
      clock: systemClock,
      onProgress: (step, table, rows, total) => {
        hasBegun = true
        progress.show(`${step.padEnd(5)} ${table.padEnd(14)}`, rows, total)
      },
    })
  } catch (error) {
    progress.stop()
    if (hasBegun && error instanceof AppError && error.code === 'unavailable') {
      printNotice('interrupted; delete the copy, and run the command again with a new, empty database')
    }
    throw error
  }
}

/**
 * Names the settings that give the copy the same root secret. Without it, no signing key could be read, and refresh
 * tokens would be refused.
 */
const secretSettings = (database: DatabaseTarget): string => {
  const files = secretFilesOf({ database })
  if (!files || !existsSync(files.current)) return 'SVC_SECRET as it was set for the source'
  const previous = existsSync(files.previous) ? `\n  SVC_SECRET_PREVIOUS_FILE=${files.previous}` : ''
  return `SVC_SECRET_FILE=${files.current}${previous}`
}

const nextSteps = (to: DatabaseTarget, secret: string): string => `
Start svc with the same root secret, so that sessions and keys stay valid:
  SVC_DATABASE_URL=${to.kind === 'sqlite' ? `sqlite:${resolve(to.file)}` : `${to.connection.redactedUrl} (with its password)`}
  ${secret}
`

const COLUMNS: Column<Comparison>[] = [
  { title: 'table', value: ({ table }) => table },
  { title: 'rows', value: ({ source, target }) => pairText(source.rows, target.rows) },
  { title: 'SHA-256', value: ({ source, target }) => pairText(source.sha256, target.sha256), minWidth: 16 },
]

const pairText = (source: string | number, target: string | number): string =>
  source === target ? String(source) : `${source} (copy: ${target})`

const comparisonToJson = ({ table, source, target, isEqual }: Comparison) => ({ table, source, target, equal: isEqual })
