import type { Log } from './log.ts'

/** What can happen to an account. The names stand in logs (docs/operate.md#account-events) and stay as they are. */
export const ACCOUNT_EVENTS = [
  'login',
  'signup',
  'logout',
  'reauthentication',
  'password_change',
  'username_change',
  'provider_connect',
  'provider_disconnect',
  'account_reclaim',
  'session_end',
  'account_create',
  'account_disable',
  'account_enable',
  'account_delete',
  'roles_change',
] as const

export type AccountEventName = (typeof ACCOUNT_EVENTS)[number]

/** What is known of an event; what is undefined is left out. */
export interface AccountFacts {
  userId?: string | undefined
  sessionId?: string | undefined
  /** `password`, or the provider as the settings name it. */
  method?: string | undefined
  /** A keyed hash of the email that was entered, where no user is known. */
  account?: string | undefined
  /** Why it failed; undefined when it succeeded. */
  reason?: string | undefined
  /** The session that ended, where another one was used for it. */
  endedSessionId?: string | undefined
  /** How many sessions, or connections to providers. */
  count?: number | undefined
}

/** Who caused an event: a request, or an operator at the command line. */
type Origin = { request_id: string; client: string } | { command: string; operator: string }

/** Writes one line about one event. */
export const logAccountEvent = (log: Log, event: AccountEventName, facts: AccountFacts, origin: Origin): void => {
  const { userId, sessionId, endedSessionId, reason, ...others } = facts
  log.info(
    {
      event,
      outcome: reason === undefined ? 'succeeded' : 'failed',
      reason,
      user_id: userId,
      session_id: sessionId,
      ended_session_id: endedSessionId,
      ...others,
      ...origin,
    },
    'account event',
  )
}
