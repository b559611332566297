import type { Staging } from '../../storage/staging.ts'
import type { ImportedUser, UserImport } from '../../accounts/accounts.ts'
import type { IdsFile } from './files.ts'
import { usernameKey } from './stage-users.ts'

/**
 * One transaction has so many. Other processes wait while it runs, so it is short; and each costs a sync of the disk, so
 * there are not too many.
 */
const BATCH_USERS = 250

export interface ImportCounts {
  imported: number
  /** It counts users who were there already. */
  existing: number
  failed: number
}

export interface WriteUsersDeps {
  staging: Staging
  userImport: UserImport
  onProblem: (number: number, problem: string) => void
  onProgress: (done: number, total: number) => void
}

interface WriteOptions {
  /** One refused user takes back all that were added. */
  allOrNothing: boolean
  announces: boolean
  ids: IdsFile | undefined
}

interface StagedUser {
  number: number
  user: ImportedUser
}

function* batchesOf({ staging, onProgress }: WriteUsersDeps): Generator<StagedUser[]> {
  let done = 0
  for (const batch of staging.batches(BATCH_USERS)) {
    yield batch.map(({ number, record }) => ({ number, user: JSON.parse(record) as ImportedUser }))
    done += batch.length
    onProgress(done, staging.count)
  }
}

const usersOf = (batch: StagedUser[]): ImportedUser[] => batch.map(({ user }) => user)

/** Counts what an import of the staged users would do. */
export const checkUsers = async (deps: WriteUsersDeps): Promise<ImportCounts> => {
  const counts: ImportCounts = { imported: 0, existing: 0, failed: 0 }
  for (const batch of batchesOf(deps)) {
    const decisions = await deps.userImport.check(usersOf(batch))
    for (const [index, decision] of decisions.entries()) {
      if (decision.kind === 'new') counts.imported += 1
      else if (decision.kind === 'there') counts.existing += 1
      else {
        counts.failed += 1
        deps.onProblem(batch[index]?.number ?? 0, decision.problem)
      }
    }
  }
  return counts
}

/** Adds the staged users who are new. */
export const writeUsers = async (deps: WriteUsersDeps, options: WriteOptions): Promise<ImportCounts> => {
  const { staging, userImport } = deps
  const { allOrNothing, announces, ids } = options
  const counts: ImportCounts = { imported: 0, existing: 0, failed: 0 }
  const isWanted = (username: string): boolean => staging.has(usernameKey(username))
  for (const batch of batchesOf(deps)) {
    const outcomes = await userImport.write(usersOf(batch), { isWanted, announces })
    for (const [index, outcome] of outcomes.entries()) {
      const { number, user } = batch[index] as StagedUser
      if (outcome.kind === 'refused') {
        counts.failed += 1
        deps.onProblem(number, outcome.problem)
        continue
      }
      counts[outcome.kind === 'imported' ? 'imported' : 'existing'] += 1
      if (outcome.kind === 'imported' && allOrNothing) staging.setId(number, outcome.id)
      await ids?.add({ number, sourceId: user.sourceId, id: outcome.id })
    }
    // All were checked before: another process has taken an email or a name since.
    if (allOrNothing && counts.failed > 0) return takeBack(deps, counts, announces)
  }
  await userImport.place()
  return counts
}

const takeBack = async ({ staging, userImport }: WriteUsersDeps, counts: ImportCounts, announces: boolean) => {
  for (const ids of staging.idBatches(BATCH_USERS)) await userImport.takeBack(ids, { announces })
  return { ...counts, imported: 0 }
}
