import { AppError } from '../../lib/errors.ts'
import type { UserImport } from '../../accounts/accounts.ts'
import type { Core } from '../command/with-core.ts'
import { printNotice } from '../terminal/output.ts'
import { createTerminalProgress, type Progress } from '../terminal/progress.ts'
import { countText, safeText } from '../terminal/text.ts'
import { openIdsFile, openImportFile } from './files.ts'
import { type Format, toFields, valuesOf } from './from/format.ts'
import { readJsonLines } from './json.ts'
import { type ReadUser, type Staged, stageUsers } from './stage-users.ts'
import { checkUsers, type ImportCounts, type WriteUsersDeps, writeUsers } from './write-users.ts'

export interface ImportOptions {
  /** It is undefined for JSON Lines with the fields of svc. */
  from: string | undefined
  format: Format | undefined
  /** The content of the file with the parameters of Firebase's hashes. */
  hashParameters: string | undefined
  ids: string | undefined
  dryRun: boolean
  allOrNothing: boolean
  withHashes: boolean
  /** The application is told of the new users if it is true. */
  announces: boolean
}

export type ImportResult = ImportCounts & Pick<Staged, 'skipped' | 'losses'>

/** Imports the users of a file, or says what an import would do. */
export const importUsers = async (core: Core, file: string, options: ImportOptions): Promise<ImportResult> => {
  const { format } = options
  const progress = createTerminalProgress()
  const notice = (text: string): void => {
    progress.clear()
    printNotice(text)
  }
  const onProblem = (number: number, problem: string): void =>
    notice(`${format ? 'user' : 'line'} ${number}: ${safeText(problem)}`)
  const userImport = await core.userImport()
  const { openStaging } = await import('../../storage/staging.ts')
  const staging = openStaging()
  try {
    const { chunks, bytes = 0, bytesRead } = await openImportFile(file)
    let shownBytes = 0
    const onItem = (): void => {
      if (bytesRead() === shownBytes) return
      shownBytes = bytesRead()
      progress.show('read  ', shownBytes, bytes, 'bytes')
    }
    const read = createReader(core, userImport, options)
    const items = format ? format.read(chunks) : readJsonLines(chunks)
    const staged = await stageUsers(items, { staging, read, onProblem, onItem })
    // A realm without its users, for example, would otherwise be imported without a word.
    if (format && staged.failed + staged.skipped + staging.count === 0)
      throw new AppError('invalid_request', `${file} has no users in the form in which ${options.from} exports them`)
    return await writeStaged(staged, { staging, userImport, onProblem, progress, notice }, { ...options, file })
  } finally {
    progress.stop()
    staging.close()
  }
}

const createReader = (
  { oauth }: Core,
  userImport: UserImport,
  { format, hashParameters, withHashes }: ImportOptions,
): ReadUser => {
  const withoutHashes = !withHashes
  return async (value) => {
    if (!format) {
      const user = await userImport.read(value, { withoutHashes })
      return { user, losses: user.lost }
    }
    const exported = format.convert(valuesOf(value), hashParameters)
    if (!exported) return undefined
    const { fields, losses } = toFields(exported, oauth.issuerOf)
    const password_hash = withHashes ? exported.hashOf() : undefined
    const user = await userImport.read({ ...fields, password_hash }, { withoutHashes, isForeign: true })
    return { user, losses: [...losses, ...user.lost] }
  }
}

interface WriteStagedDeps extends Omit<WriteUsersDeps, 'onProgress'> {
  progress: Progress
  notice: (text: string) => void
}

const writeStaged = async (
  { failed, skipped, losses, passwords }: Staged,
  { progress, notice, ...deps }: WriteStagedDeps,
  { dryRun, allOrNothing, announces, ids: idsName, file }: ImportOptions & { file: string },
): Promise<ImportResult> => {
  const onProgress = (title: string) => (done: number, total: number) => progress.show(title, done, total, 'users')
  const resultOf = (counts: ImportCounts) => ({ ...counts, failed: counts.failed + failed, skipped, losses })
  if (dryRun || allOrNothing) {
    const checked = resultOf(await checkUsers({ ...deps, onProgress: onProgress('check ') }))
    if (dryRun) return checked
    if (checked.failed > 0) return { ...checked, imported: 0 }
  }
  if (passwords > 0) notice(hashingText(passwords))
  const ids = idsName === undefined ? undefined : await openIdsFile(idsName, file)
  try {
    const options = { allOrNothing, announces, ids }
    const counts = await writeUsers({ ...deps, onProgress: onProgress('import') }, options)
    if (!allOrNothing || counts.failed === 0) await ids?.finish()
    return resultOf(counts)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable')
      notice('interrupted; run the same command again, which adds the users who are missing')
    throw error
  } finally {
    await ids?.discard()
  }
}

/** A hash takes about so long on one core: hashing makes an import slow. */
const HASH_SECONDS = 0.01

const hashingText = (count: number): string => {
  const minutes = Math.ceil((count * HASH_SECONDS) / 60)
  return (
    `${countText(count, 'user')} ${count === 1 ? 'has' : 'have'} a plain password. Hashing takes about ${HASH_SECONDS * 1000} ms of a core for each, ` +
    `${minutes === 1 ? 'a minute' : `${minutes} minutes`} at most in all. Hashes are imported as they are, at once.`
  )
}
