import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'
import { type Effects, SECURITY_EVENTS, type SecurityEvent, type Things } from './security-event-table.ts'

interface EventFacts {
  userId: string
  /** The session of the request, where the user made the change while signed in. Without it, all sessions are others. */
  sessionId?: string | undefined
  /** When that began which is undone; newer is what was added at this time or later. */
  sinceMs?: number | undefined
  /** Overrides the table, where an operator asked for it. */
  keepsConnections?: boolean | undefined
  /** The same for passkeys, which go then. */
  removesPasskeys?: boolean | undefined
  /** Left out for an operator on the command line. */
  caller?: Caller | undefined
}

/** What was removed of an authenticator app and its recovery codes. */
interface RemovedCodes {
  /** Whether there was an app. */
  codes: boolean
  recoveryCodes: number
}

/** What was removed of second factors, and how many sessions ended. */
export interface RemovedFactors extends RemovedCodes {
  /** Names of the passkeys that were removed. */
  passkeys: string[]
  sessions: number
}

/** What came of an event. */
interface Ended extends RemovedFactors {
  /** Names of the providers that were disconnected. */
  providers: string[]
}

/** Ends what the event ends, in the transaction of the change, whose first statement has locked the user. */
export type ApplySecurityEvent = (transaction: Transaction, event: SecurityEvent, facts: EventFacts) => Promise<Ended>

/** Removes what was added at `sinceMs` or later. */
type RemoveSince<Removed> = (transaction: Transaction, userId: string, sinceMs: number) => Promise<Removed>

interface SecurityEventsDeps {
  endSessions: (transaction: Transaction, userId: string, exceptSessionId?: string) => Promise<number>
  endPendingSignIns: (transaction: Transaction, userId: string) => Promise<unknown>
  /** Ends links; those that undo a change of address only where they were made at `undoSinceMs` or later. `keepsNotMe`: not those of notices. */
  endLinks: (
    transaction: Transaction,
    userId: string,
    undoSinceMs: number | undefined,
    keepsNotMe: boolean,
  ) => Promise<unknown>
  forgetBrowsers: (transaction: Transaction, userId: string) => Promise<unknown>
  endTrust: (transaction: Transaction, userId: string) => Promise<unknown>
  /** Resolves to the names of the providers. */
  disconnectProviders: RemoveSince<string[]>
  /** Resolves to the names of the passkeys. */
  removePasskeys: RemoveSince<string[]>
  removeCodes: RemoveSince<RemovedCodes>
  forgetWrongCodes: (transaction: Transaction, userId: string) => Promise<unknown>
  recordEvent: RecordEvent
}

export const createSecurityEvents = (deps: SecurityEventsDeps): ApplySecurityEvent => {
  const endSessions = async (transaction: Transaction, { sessions }: Effects, { userId, sessionId }: EventFacts) => {
    if (sessions === 'stay') return 0
    await deps.endPendingSignIns(transaction, userId)
    return deps.endSessions(transaction, userId, sessions === 'others_end' ? sessionId : undefined)
  }

  /** What was added to the account, as far as it goes. */
  const remove = async (transaction: Transaction, effects: Effects, facts: EventFacts) => {
    const { userId, keepsConnections, removesPasskeys } = facts
    const connectedSinceMs = sinceOf(keepsConnections ? 'stay' : effects.connections, facts)
    const passkeysSinceMs = sinceOf(removesPasskeys ? 'go' : effects.passkeys, facts)
    const codesSinceMs = sinceOf(effects.codes, facts)
    return {
      providers:
        connectedSinceMs === undefined ? [] : await deps.disconnectProviders(transaction, userId, connectedSinceMs),
      passkeys: passkeysSinceMs === undefined ? [] : await deps.removePasskeys(transaction, userId, passkeysSinceMs),
      ...(codesSinceMs === undefined
        ? { codes: false, recoveryCodes: 0 }
        : await deps.removeCodes(transaction, userId, codesSinceMs)),
    }
  }

  return async (transaction, event, facts) => {
    const effects: Effects = SECURITY_EVENTS[event]
    const { userId } = facts
    const removed = await remove(transaction, effects, facts)
    if (effects.wrongCodes === 'forgotten') await deps.forgetWrongCodes(transaction, userId)
    if (effects.links !== 'stay') {
      const keepsNotMe = effects.links === 'asked_die'
      await deps.endLinks(transaction, userId, undoLinksSince(effects, facts), keepsNotMe)
    }
    if (effects.browsers === 'end') await deps.forgetBrowsers(transaction, userId)
    if (effects.browsers === 'trust_ends') await deps.endTrust(transaction, userId)
    const ended = { ...removed, sessions: await endSessions(transaction, effects, facts) }
    for (const record of recordsOf(event, facts, ended)) await deps.recordEvent(transaction, record, facts.caller)
    return ended
  }
}

/** Of what has ended; `reason` is the event. */
const recordsOf = (event: SecurityEvent, { userId }: EventFacts, ended: Ended): AuditEvent[] => {
  const { providers, passkeys, codes, recoveryCodes, sessions } = ended
  const records: Pick<AuditEvent, 'type' | 'details'>[] = providers.map((provider) => ({
    type: 'identity.unlinked',
    details: { provider },
  }))
  if (passkeys.length > 0) records.push({ type: 'passkey.removed', details: { count: passkeys.length } })
  // An operator's reset has a record of its own.
  if ((codes || recoveryCodes > 0) && event !== 'second_factor_reset') records.push({ type: 'second_factor.removed' })
  if (sessions > 0) records.push({ type: 'session.ended', details: { count: sessions } })
  return records.map(({ type, details }) => ({ type, userId, details: { ...details, reason: event } }))
}

const requireTime = ({ sinceMs }: EventFacts): number => {
  if (sinceMs === undefined) throw new TypeError('The event needs the time since when things end')
  return sinceMs
}

/** Undefined: nothing of the kind goes. */
const sinceOf = (things: Things, facts: EventFacts): number | undefined => {
  if (things === 'stay') return undefined
  return things === 'newer_go' ? requireTime(facts) : 0
}

/** Undefined: no link of that kind ends. */
const undoLinksSince = ({ links }: Effects, facts: EventFacts): number | undefined => {
  if (links === 'die' || links === 'asked_die') return undefined
  return links === 'newer_die' ? requireTime(facts) : 0
}
