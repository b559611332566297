import { AppError } from '../../lib/errors.ts'
import type { Staging } from '../../storage/staging.ts'
import type { ImportedUser } from '../../accounts/accounts.ts'
import type { Loss } from './from/format.ts'
import type { Item } from './item.ts'
import { fieldOfKey, keysOf } from './user-keys.ts'

/** What one entry of a file says; no user where it is an entry of another kind. */
export interface Entry {
  user: ImportedUser | undefined
  losses: Loss[]
}

interface StageUsersDeps {
  staging: Staging
  /** `unprocessable` for a user who cannot be imported. */
  read: (value: unknown) => Promise<Entry>
  onProblem: (number: number, problem: string) => void
  onItem: () => void
}

/** What a file says, in numbers. */
export interface Staged {
  /** Users with a problem. */
  failed: number
  /** Entries that are no users. */
  skipped: number
  /** How many users lose something that is not carried over. */
  losses: Map<Loss, number>
  /** How many users have a password that is to be hashed. */
  passwords: number
}

/** Reads a file to its end, and keeps the users who can be imported as far as the file alone shows. */
export const stageUsers = async (items: AsyncIterable<Item>, deps: StageUsersDeps): Promise<Staged> => {
  const staged: Staged = { failed: 0, skipped: 0, losses: new Map(), passwords: 0 }
  for await (const item of items) {
    const problem = 'problem' in item ? item.problem : await stageUser(item.number, item.value, deps, staged)
    if (problem !== undefined) {
      staged.failed += 1
      deps.onProblem(item.number, problem)
    }
    deps.onItem()
  }
  return staged
}

/** Returns what is wrong with the user. */
const stageUser = async (
  number: number,
  value: unknown,
  { staging, read }: StageUsersDeps,
  staged: Staged,
): Promise<string | undefined> => {
  try {
    const { user, losses } = await read(value)
    if (!user) {
      staged.skipped += 1
      return undefined
    }
    const [first] = staging.add(number, JSON.stringify(user), keysOf(user))
    if (first) return repetitionText(number, first)
    if (user.password !== undefined) staged.passwords += 1
    for (const loss of new Set(losses)) staged.losses.set(loss, (staged.losses.get(loss) ?? 0) + 1)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable') return problemText(error)
    throw error
  }
}

const repetitionText = (number: number, earlier: { key: string; number: number }): string =>
  earlier.number === number
    ? `${fieldOfKey(earlier.key)}: the same one twice`
    : `${fieldOfKey(earlier.key)}: number ${earlier.number} of this file has the same one`

/** Every problem of one user. */
const problemText = (error: AppError): string =>
  [error, ...error.others]
    .map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
    .join(' ')
