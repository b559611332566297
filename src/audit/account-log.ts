import type { TallyEvent } from './audit-event.ts'
import { type AccountEventName, type AccountFacts, logAccountEvent } from '../lib/account-event.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { failedLogin } from './failed-login.ts'
import type { Caller } from '../lib/caller.ts'

interface AccountLogDeps {
  log: Log
  /** A keyed hash of an email of no known user: it tells two emails apart, and reveals neither. */
  pseudonymOf: (email: string) => string
  audit: { tally: TallyEvent }
}

interface LoggedRequest extends Caller {
  requestId: string
  device: NonNullable<Caller['device']>
  apiKey?: { id: string } | undefined
}

/** What the log says about an event. The code that handles the request completes it. */
export interface EventFacts extends AccountFacts {
  /** May change: a sign-in with a provider can turn out to be a signup. */
  event: AccountEventName
  /** The email that was entered. It is never logged; its keyed hash is, where no user is known. */
  email?: string | undefined
}

/** Logs what requests do to accounts (docs/logs-and-metrics.md#account-events). */
export interface AccountLog {
  record: (context: LoggedRequest, facts: EventFacts) => void
  /** Runs `action`, which may complete the facts, and logs only that it failed. */
  recordFailure: <T>(context: LoggedRequest, facts: EventFacts, action: () => Promise<T>) => Promise<T>
  /** Runs `action`, which may complete the facts, and logs how it ended. */
  recordOutcome: <T>(context: LoggedRequest, known: EventFacts, action: (facts: EventFacts) => Promise<T>) => Promise<T>
}

export const createAccountLog = ({ log, pseudonymOf, audit }: AccountLogDeps): AccountLog => {
  const record = ({ requestId, device, apiKey }: LoggedRequest, { event, email, ...facts }: EventFacts): void => {
    // Always computed: the time that a response takes must not show whether the account exists.
    const pseudonym = email === undefined ? undefined : pseudonymOf(email)
    const account = facts.userId === undefined ? pseudonym : undefined
    logAccountEvent(
      log,
      event,
      { ...facts, account },
      { request_id: requestId, client: device.address, api_key_id: apiKey?.id },
    )
  }

  const recordFailure: AccountLog['recordFailure'] = async (context, facts, action) => {
    try {
      return await action()
    } catch (error) {
      const failed = { ...facts, reason: facts.reason ?? reasonOf(error) }
      record(context, failed)
      const counted = failedLogin(failed, error)
      if (counted) audit.tally(counted, context)
      throw error
    }
  }

  return {
    record,
    recordFailure,

    async recordOutcome(context, known, action) {
      const facts = { ...known }
      const result = await recordFailure(context, facts, () => action(facts))
      record(context, facts)
      return result
    },
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof AppError ? (error.reason ?? error.code) : 'internal_error'
