import { type AccountEventName, type AccountFacts, logAccountEvent } from '../lib/account-event.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RequestContext } from './request-context.ts'

interface AccountLogDeps {
  log: Log
  /** A keyed hash of an email that belongs to no known user: the same email gives the same text, and not the reverse. */
  pseudonymOf: (email: string) => string
}

/** What is found out about an event while it happens. */
interface EventInProgress extends AccountFacts {
  /** A sign-in by a provider turns out to be a signup, for example. */
  event: AccountEventName
  /** The email that was entered. It is never logged; its keyed hash is, where no user is known. */
  email?: string | undefined
}

/** Writes a line for each thing that happens to an account by a request. */
export const createAccountLog = ({ log, pseudonymOf }: AccountLogDeps) => {
  const note = ({ requestId, device }: RequestContext, { event, email, ...facts }: EventInProgress): void => {
    // Always computed: whether there is such an account must not show in the time that an answer takes.
    const pseudonym = email === undefined ? undefined : pseudonymOf(email)
    const account = facts.userId === undefined ? pseudonym : undefined
    logAccountEvent(log, event, { ...facts, account }, { request_id: requestId, client: device.address })
  }

  return {
    note,

    /** Does something to an account and writes down how it ended; `action` adds what it finds out. */
    async watch<T>(
      context: RequestContext,
      known: EventInProgress,
      action: (found: EventInProgress) => Promise<T>,
    ): Promise<T> {
      const found = { ...known }
      try {
        const result = await action(found)
        note(context, found)
        return result
      } catch (error) {
        note(context, { ...found, reason: found.reason ?? reasonOf(error) })
        throw error
      }
    },
  }
}

export type AccountLog = ReturnType<typeof createAccountLog>
export type { EventInProgress }

const reasonOf = (error: unknown): string =>
  error instanceof AppError ? (error.reason ?? error.code) : 'internal_error'
