import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'

/** Each event does this to every way into an account. */
interface Effects {
  /** Sign-ins that wait for a second factor end where sessions do. */
  sessions: 'end' | 'others_end' | 'stay'
  /**
   * `die`: all but the links that undo a change of address, which are the owner's last resort. `newer_die`: these too
   * where they were made since a time. `asked_die`: all but these and the links of notices, by which the user throws out
   * what else a thief has added.
   */
  links: 'die' | 'newer_die' | 'all_die' | 'asked_die' | 'stay'
  /** Browsers in which the user has signed in before, and their trust, which spares a second factor. */
  browsers: 'end' | 'trust_ends' | 'stay'
  /** Connected providers; `newer_go`: those that were connected since a time. */
  connections: Things
  passkeys: Things
  /** The authenticator app, and recovery codes. */
  codes: Things
  /**
   * What clients of the OAuth server were given. `others_end`: all but those that hang on the session that stays. Where
   * they stay, those that hang on a session that ends go with it.
   */
  grants: 'end' | 'others_end' | 'stay'
  /** `forgotten`: there is a new password, and wrong codes from before say nothing about it. */
  wrongCodes: 'forgotten' | 'stay'
}

type Things = 'go' | 'newer_go' | 'stay'

/**
 * THE table of events: what each does to every way into an account (docs/security.md). The holes of such systems are
 * where two features meet; so no feature ends anything by itself, and each cell has a test.
 */
// biome-ignore format: a table is read by its columns
export const SECURITY_EVENTS = {
  /** The user sets a password, while signed in. */
  password_changed:       { sessions: 'others_end', links: 'die',       browsers: 'trust_ends', connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten', grants: 'others_end' },
  /** The user sets a password by a link. A second factor was asked for before. */
  password_reset:         { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten', grants: 'end' },
  /** An operator sets a password. */
  password_set:           { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'go',       passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten', grants: 'end' },
  /** An operator helps a user who has lost it; passkeys go where the operator says so. */
  second_factor_reset:    { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'go',       wrongCodes: 'stay',      grants: 'end' },
  /** A link confirms a change of address, or an operator makes one. */
  email_changed:          { sessions: 'stay',       links: 'die',       browsers: 'stay',       connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'stay' },
  /** An operator changes the address after a theft: no other address gets the account back. */
  email_taken_back:       { sessions: 'end',        links: 'all_die',   browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'end' },
  /** All that was added since the change was asked for goes. An older undo link stays: the newer may be an attacker's. */
  email_undone:           { sessions: 'end',        links: 'newer_die', browsers: 'end',        connections: 'newer_go', passkeys: 'newer_go', codes: 'newer_go', wrongCodes: 'forgotten', grants: 'end' },
  /** The thing that the link names goes too. */
  not_me:                 { sessions: 'end',        links: 'asked_die', browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'end' },
  /** The owner of an email proves it for the first time, on an account that anybody may have made. */
  taken_over:             { sessions: 'end',        links: 'all_die',   browsers: 'end',        connections: 'go',       passkeys: 'go',       codes: 'go',       wrongCodes: 'stay',      grants: 'end' },
  /** A provider, a passkey or a second factor was added or removed. */
  sign_in_method_changed: { sessions: 'others_end', links: 'stay',      browsers: 'trust_ends', connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'stay' },
  /** Its first app: a browser that became known by a password alone, before, may be a thief's. */
  first_app_set_up:       { sessions: 'others_end', links: 'stay',      browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'stay' },
  disabled:               { sessions: 'end',        links: 'die',       browsers: 'stay',       connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay',      grants: 'end' },
} as const satisfies Record<string, Effects>

export type SecurityEvent = keyof typeof SECURITY_EVENTS

interface EventFacts {
  userId: string
  /** The session of a user who made the change while signed in. Without it, all sessions are others. */
  sessionId?: string | undefined
  /** When that began which is undone; newer is what was added at this time or later. */
  sinceMs?: number | undefined
  /** Overrides the table, where an operator asked for it. */
  keepsConnections?: boolean | undefined
  /** Removes passkeys against the table. */
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

/** Second factors that were removed, and how many sessions ended. */
export interface RemovedFactors extends RemovedCodes {
  /** Names of the passkeys that were removed. */
  passkeys: string[]
  sessions: number
}

/** What came of an event. */
interface Ended extends RemovedFactors {
  /** Names of the providers that were disconnected. */
  providers: string[]
  /** How many grants of clients ended by the event itself. */
  grants: number
}

/** Ends what the event ends, in the transaction of the change, whose first statement has locked the user. */
export type ApplySecurityEvent = (transaction: Transaction, event: SecurityEvent, facts: EventFacts) => Promise<Ended>

/** Removes what was added at `sinceMs` or later. */
type RemoveSince<Removed> = (transaction: Transaction, userId: string, sinceMs: number) => Promise<Removed>

interface SecurityEventsDeps {
  endSessions: (
    transaction: Transaction,
    userId: string,
    reason: SecurityEvent,
    options: { exceptId: string | undefined; caller: Caller | undefined },
  ) => Promise<number>
  endGrants: (
    transaction: Transaction,
    which: { userId: string; exceptSessionId: string | undefined },
    reason: SecurityEvent,
    caller: Caller | undefined,
  ) => Promise<number>
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
  const endAccess = async (transaction: Transaction, event: SecurityEvent, facts: EventFacts) => {
    const { sessions, grants }: Effects = SECURITY_EVENTS[event]
    const { userId, sessionId, caller } = facts
    const exceptIn = (effect: Effects['sessions']) => (effect === 'others_end' ? sessionId : undefined)
    if (sessions !== 'stay') await deps.endPendingSignIns(transaction, userId)
    const which = { userId, exceptSessionId: exceptIn(grants) }
    return {
      grants: grants === 'stay' ? 0 : await deps.endGrants(transaction, which, event, caller),
      sessions:
        sessions === 'stay'
          ? 0
          : await deps.endSessions(transaction, userId, event, { exceptId: exceptIn(sessions), caller }),
    }
  }

  /** Removes what was added to the account, as far as it goes. */
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
    const ended = { ...removed, ...(await endAccess(transaction, event, facts)) }
    for (const record of recordsOf(event, facts, ended)) await deps.recordEvent(transaction, record, facts.caller)
    return ended
  }
}

/** Makes the records of what has ended; `reason` is the event. */
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

/** Undefined means that nothing of the kind goes. */
const sinceOf = (things: Things, facts: EventFacts): number | undefined => {
  if (things === 'stay') return undefined
  return things === 'newer_go' ? requireTime(facts) : 0
}

/** Undefined means that no link of that kind ends. */
const undoLinksSince = ({ links }: Effects, facts: EventFacts): number | undefined => {
  if (links === 'die' || links === 'asked_die') return undefined
  return links === 'newer_die' ? requireTime(facts) : 0
}
