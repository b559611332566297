import { AppError } from '../../lib/errors.ts'
import type { Staging } from '../../storage/staging.ts'
import type { UserImport } from '../../accounts/accounts.ts'
import type { Core } from '../with-core.ts'
import type { Format, Loss } from './from/format.ts'
import { type IdsFile, openIdsFile } from './ids-file.ts'
import { createImportOutput, type ImportOutput } from './import-output.ts'
import { readJsonLines } from './json-lines.ts'
import { openImportFile } from './source.ts'
import { type Entry, type Staged, stageUsers } from './stage-users.ts'
import { checkUsers, type ImportCounts, writeUsers } from './write-users.ts'

export interface ImportOptions {
  /** The system whose export it is; undefined for JSON Lines with the fields of svc. */
  from: string | undefined
  /** The content of the file with the parameters of Firebase's hashes. */
  hashParameters: string | undefined
  /** The file that tells which id each user has got. */
  ids: string | undefined
  dryRun: boolean
  allOrNothing: boolean
  withoutHashes: boolean
  /** Whether the application is told of the new users. */
  announces: boolean
}

export interface ImportResult extends ImportCounts {
  /** Entries of the file that are no users. */
  skipped: number
  /** How many users lose something that is not carried over. */
  losses: Map<Loss, number>
}

/** Imports the users of a file, or says what an import would do. */
export const importUsers = async (core: Core, file: string, options: ImportOptions): Promise<ImportResult> => {
  const format = await findFormat(options.from)
  const output = createImportOutput(format ? 'user' : 'line')
  const userImport = await core.userImport()
  const { openStaging } = await import('../../storage/staging.ts')
  const staging = openStaging()
  try {
    const read = createReader(core, { userImport, format, options })
    const staged = await stageFile(file, { format, staging, output, read })
    if (format && staged.failed + staged.skipped + staging.count === 0) throw noUsers(file, options)
    return await writeStaged(staged, { staging, userImport, output }, { ...options, file })
  } finally {
    output.end()
    staging.close()
  }
}

/** A realm without its users, for example, would otherwise be imported without a word. */
const noUsers = (file: string, { from }: ImportOptions): AppError =>
  new AppError('invalid_request', `${file} has no users in the form in which ${from} exports them`)

const findFormat = async (from: string | undefined): Promise<Format | undefined> => {
  if (from === undefined) return undefined
  const { FORMATS } = await import('./from/formats.ts')
  return FORMATS[from]
}

/** What makes a user of one value of the file. */
const createReader = (
  { oauth }: Core,
  { userImport, format, options }: { userImport: UserImport; format: Format | undefined; options: ImportOptions },
): ((value: unknown) => Promise<Entry>) => {
  const { hashParameters, withoutHashes } = options
  if (!format) {
    return async (value) => {
      const user = await userImport.read(value, { withoutHashes })
      return { user, losses: user.lost }
    }
  }
  return async (value) => {
    const { user, hashOf, losses } = format.convert(value, { issuerOf: oauth.issuerOf, hashParameters })
    if (!user) return { user: undefined, losses }
    const fields = { ...user, password_hash: withoutHashes ? undefined : hashOf() }
    return { user: await userImport.read(fields, { withoutHashes }), losses }
  }
}

interface StageFileDeps {
  format: Format | undefined
  staging: Staging
  output: ImportOutput
  read: (value: unknown) => Promise<Entry>
}

const stageFile = async (file: string, { format, staging, output, read }: StageFileDeps): Promise<Staged> => {
  const source = await openImportFile(file)
  const items = format ? format.read(source.chunks) : readJsonLines(source.chunks)
  const showProgress = () => output.showBytes(source.bytesRead(), source.bytes)
  return stageUsers(items, { staging, read, onProblem: output.showProblem, onItem: showProgress })
}

interface WriteStagedDeps {
  staging: Staging
  userImport: UserImport
  output: ImportOutput
}

const writeStaged = async (
  { failed, skipped, losses, passwords }: Staged,
  { staging, userImport, output }: WriteStagedDeps,
  { dryRun, allOrNothing, announces, ids: idsName, file }: ImportOptions & { file: string },
): Promise<ImportResult> => {
  const deps = { staging, userImport, onProblem: output.showProblem }
  const resultOf = (counts: ImportCounts) => ({ ...counts, failed: counts.failed + failed, skipped, losses })
  if (dryRun || allOrNothing) {
    const checked = resultOf(await checkUsers({ ...deps, onProgress: output.showChecked }))
    if (dryRun) return checked
    if (checked.failed > 0) return { ...checked, imported: 0 }
  }
  if (passwords > 0) output.warnOfPasswords(passwords)
  const ids: IdsFile | undefined = idsName === undefined ? undefined : await openIdsFile(idsName, file)
  try {
    const counts = await writeUsers({ ...deps, onProgress: output.showImported }, { allOrNothing, announces, ids })
    const isTakenBack = allOrNothing && counts.failed > 0
    if (!isTakenBack) await ids?.finish()
    return resultOf(counts)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') output.sayInterrupted()
    throw error
  } finally {
    await ids?.discard()
  }
}
