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

type Answer = { kind: 'new' } | { kind: 'there' | 'imported'; id: string } | { kind: 'refused'; problem: string }

interface Question<Given extends Answer> {
  ask: (users: ImportedUser[]) => Promise<Given[]>
  onAccepted?: (number: number, user: ImportedUser, answer: Exclude<Given, { kind: 'refused' }>) => Promise<void>
  endsWithRefusal?: boolean
}

/** Asks what becomes of the staged users, batch by batch, and counts the answers. */
const askAll = async <Given extends Answer>(
  { staging, onProblem, onProgress }: WriteUsersDeps,
  { ask, onAccepted, endsWithRefusal = false }: Question<Given>,
): Promise<ImportCounts> => {
  const counts: ImportCounts = { imported: 0, existing: 0, failed: 0 }
  let done = 0
  for (const batch of staging.batches(BATCH_USERS)) {
    const users = batch.map(({ record }) => JSON.parse(record) as ImportedUser)
    for (const [index, answer] of (await ask(users)).entries()) {
      const { number } = batch[index] as (typeof batch)[number]
      counts[answer.kind === 'refused' ? 'failed' : answer.kind === 'there' ? 'existing' : 'imported'] += 1
      if (answer.kind === 'refused') onProblem(number, answer.problem)
      else await onAccepted?.(number, users[index] as ImportedUser, answer as Exclude<Given, { kind: 'refused' }>)
    }
    if (endsWithRefusal && counts.failed > 0) break
    done += batch.length
    onProgress(done, staging.count)
  }
  return counts
}

export const checkUsers = (deps: WriteUsersDeps): Promise<ImportCounts> =>
  askAll(deps, { ask: (users) => deps.userImport.check(users) })

export const writeUsers = async (deps: WriteUsersDeps, options: WriteOptions): Promise<ImportCounts> => {
  const { staging, userImport } = deps
  const { allOrNothing, announces, ids } = options
  const isWanted = (username: string): boolean => staging.has(usernameKey(username))
  const counts = await askAll(deps, {
    ask: (users) => userImport.write(users, { isWanted, announces }),
    endsWithRefusal: allOrNothing,
    async onAccepted(number, { sourceId }, { kind, id }) {
      if (kind === 'imported' && allOrNothing) staging.setId(number, id)
      await ids?.add({ number, sourceId, id })
    },
  })
  // All were checked before: another process has taken an email or a name since.
  if (allOrNothing && counts.failed > 0) {
    for (const added of staging.idBatches(BATCH_USERS)) await userImport.takeBack(added, { announces })
    return { ...counts, imported: 0 }
  }
  await userImport.place()
  return counts
}
