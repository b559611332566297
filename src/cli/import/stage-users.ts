import { AppError } from '../../lib/errors.ts'
import type { Staging } from '../../storage/staging.ts'
import type { ImportedUser } from '../../accounts/accounts.ts'
import type { Loss } from './from/format.ts'
import type { Item } from './json.ts'

/** Gives undefined for an entry that is no user; throws `unprocessable` for a user who cannot be imported. */
export type ReadUser = (value: unknown) => Promise<{ user: ImportedUser; losses: Loss[] } | undefined>

interface StageUsersDeps {
  staging: Staging
  read: ReadUser
  onProblem: (number: number, problem: string) => void
  onItem: () => void
}

/** A file is counted while it is read. */
export interface Staged {
  failed: number
  /** It counts entries that are no users. */
  skipped: number
  /** It counts the users who lose something that is not carried over. */
  losses: Map<Loss, number>
  /** It counts the users whose password is to be hashed. */
  passwords: number
}

/** Reads a file to its end, and keeps the users who can be imported as far as the file alone shows. */
export const stageUsers = async (items: AsyncIterable<Item>, deps: StageUsersDeps): Promise<Staged> => {
  const staged: Staged = { failed: 0, skipped: 0, losses: new Map(), passwords: 0 }
  for await (const item of items) {
    const problem = 'problem' in item ? item.problem : await stageUser(item, deps, staged).catch(problemText)
    if (problem !== undefined) {
      staged.failed += 1
      deps.onProblem(item.number, problem)
    }
    deps.onItem()
  }
  return staged
}

/** Returns what is wrong with the user beside the others of the file. */
const stageUser = async (
  { number, value }: Item & { value: unknown },
  { staging, read }: StageUsersDeps,
  staged: Staged,
): Promise<string | undefined> => {
  const entry = await read(value)
  if (!entry) {
    staged.skipped += 1
    return undefined
  }
  const { user, losses } = entry
  const [first] = staging.add(number, JSON.stringify(user), keysOf(user))
  if (first) {
    const field = first.key.slice(0, first.key.indexOf(' '))
    return first.number === number
      ? `${field}: the same one twice`
      : `${field}: number ${first.number} of this file has the same one`
  }
  if (user.password !== undefined) staged.passwords += 1
  for (const loss of new Set(losses)) staged.losses.set(loss, (staged.losses.get(loss) ?? 0) + 1)
  return undefined
}

/** Joins every problem of one user. Throws any other error again. */
const problemText = (error: unknown): string => {
  if (!(error instanceof AppError) || error.code !== 'unprocessable') throw error
  return [error, ...error.others]
    .map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
    .join(' ')
}

/** No two users of a file may have one of these texts in common. Emails and ids are the same in any case. */
const keysOf = ({ sourceId, email, username, identities }: ImportedUser): string[] => [
  ...(sourceId === undefined ? [] : [`id ${sourceId.toLowerCase()}`]),
  `email ${email.lower}`,
  ...(username === undefined ? [] : [usernameKey(username)]),
  ...identities.map(({ issuer, subject }) => `identities ${JSON.stringify([issuer, subject])}`),
]

export const usernameKey = (username: string): string => `username ${username}`
