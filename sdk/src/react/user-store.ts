import { isSignedIn } from '../browser/cookies.ts'
import { onSessionChange } from '../browser/session-change.ts'
import { getUser } from '../browser.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { User } from '../user.ts'

/** The user, null for nobody, or undefined while it is not known. */
export type KnownUser = User | null | undefined

/** The user of a page, for `useSyncExternalStore`. */
export interface UserStore {
  subscribe(listener: () => void): () => void
  read(): KnownUser
  /** What the server has rendered with. */
  readOnServer(): KnownUser
  /** Takes what the server says now. */
  take(user: KnownUser): void
}

export const createUserStore = (rendered: KnownUser): UserStore => {
  const listeners = new Set<() => void>()
  // What the server says of nobody may be of an access token that has run out: the cookies know better.
  let user: KnownUser = rendered ?? undefined
  let questions = 0
  let stop: (() => void) | undefined

  const read = (): KnownUser => (isSignedIn() ? user : null)

  const set = (found: KnownUser): void => {
    user = found
    for (const listener of listeners) listener()
  }

  const ask = async (): Promise<void> => {
    questions += 1
    const question = questions
    try {
      const found = await getUser()
      if (question === questions) set(found)
    } catch (error) {
      if (!(error instanceof SvcUnavailableError)) throw error
      // Nobody is signed out by an outage.
      setTimeout(() => void (question === questions && listeners.size > 0 && ask()), error.retryAfter * 1000)
    }
  }

  const askIfNeeded = (): void => {
    if (read() === undefined) void ask()
  }

  return {
    read,
    readOnServer: () => rendered,
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        // Another user may have logged in.
        stop = onSessionChange(() => {
          questions += 1
          set(undefined)
          askIfNeeded()
        })
        askIfNeeded()
      }
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop?.()
      }
    },
    take(told) {
      if (told && told !== user) set(told)
    },
  }
}
