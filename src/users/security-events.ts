import type { Transaction } from '../storage/database.ts'

/** What one event does to each way into an account. */
interface Effects {
  /** Where sessions end, so do sign-ins under way, which have proved a password and wait for a second factor. */
  sessions: 'end' | 'others_end' | 'stay'
  /**
   * `die`: all but the links that undo a change of address, which are the owner's last resort. `newer_die`: these too
   * where they were made since a time.
   */
  links: 'die' | 'newer_die' | 'all_die' | 'stay'
  /** Browsers in which the user has signed in before, and their trust, which spares a second factor. */
  browsers: 'end' | 'trust_ends' | 'stay'
  /** Connected providers; `newer_go`: those that were connected since a time. */
  connections: 'go' | 'newer_go' | 'stay'
}

/**
 * THE table of events: what each does to every way into an account (docs/security.md). The holes of such systems are
 * where two features meet; so no feature ends anything by itself, and each cell has a test.
 */
// biome-ignore format: a table is read by its columns
export const SECURITY_EVENTS = {
  /** By the user, while signed in. */
  password_changed:       { sessions: 'others_end', links: 'die',        browsers: 'trust_ends', connections: 'stay' },
  /** By a link. */
  password_reset:         { sessions: 'end',        links: 'die',        browsers: 'end',        connections: 'stay' },
  /** By an operator. */
  password_set:           { sessions: 'end',        links: 'die',        browsers: 'end',        connections: 'go' },
  /** A confirmed change of address, or one by an operator. */
  email_changed:          { sessions: 'stay',       links: 'die',        browsers: 'stay',       connections: 'stay' },
  /** What was added since the change was asked for goes. An older undo link stays: the newer one may be an attacker's. */
  email_undone:           { sessions: 'end',        links: 'newer_die',  browsers: 'end',        connections: 'newer_go' },
  /** What the link names goes too. */
  not_me:                 { sessions: 'end',        links: 'die',        browsers: 'end',        connections: 'stay' },
  /** The owner of an email proves it for the first time, on an account that anybody may have made. */
  taken_over:             { sessions: 'end',        links: 'all_die',    browsers: 'end',        connections: 'go' },
  sign_in_method_changed: { sessions: 'others_end', links: 'stay',       browsers: 'trust_ends', connections: 'stay' },
  disabled:               { sessions: 'end',        links: 'die',        browsers: 'stay',       connections: 'stay' },
} as const satisfies Record<string, Effects>

export type SecurityEvent = keyof typeof SECURITY_EVENTS

interface EventFacts {
  userId: string
  /** The session of the request, where the user made the change while signed in. Without it, all sessions are others. */
  sessionId?: string | undefined
  /** When that began which is undone; newer is what was added at this time or later. */
  sinceMs?: number | undefined
  /** Overrides the table, where an operator asked for it. */
  keepsConnections?: boolean | undefined
}

/** What came of an event. */
interface Ended {
  sessions: number
  /** Names of the providers that were disconnected. */
  providers: string[]
}

/** Ends what the event ends, in the transaction of the change, whose first statement has locked the user. */
export type ApplySecurityEvent = (transaction: Transaction, event: SecurityEvent, facts: EventFacts) => Promise<Ended>

interface SecurityEventsDeps {
  endSessions: (transaction: Transaction, userId: string, exceptSessionId?: string) => Promise<number>
  endPendingSignIns: (transaction: Transaction, userId: string) => Promise<unknown>
  /** Ends links; those that undo a change of address only where they were made at `undoSinceMs` or later. */
  endLinks: (transaction: Transaction, userId: string, undoSinceMs: number | undefined) => Promise<unknown>
  forgetBrowsers: (transaction: Transaction, userId: string) => Promise<unknown>
  endTrust: (transaction: Transaction, userId: string) => Promise<unknown>
  /** Those that were connected at `sinceMs` or later; resolves to the names of the providers. */
  disconnectProviders: (transaction: Transaction, userId: string, sinceMs: number) => Promise<string[]>
}

export const createSecurityEvents = (deps: SecurityEventsDeps): ApplySecurityEvent => {
  const endSessions = async (transaction: Transaction, { sessions }: Effects, { userId, sessionId }: EventFacts) => {
    if (sessions === 'stay') return 0
    await deps.endPendingSignIns(transaction, userId)
    return deps.endSessions(transaction, userId, sessions === 'others_end' ? sessionId : undefined)
  }

  return async (transaction, event, facts) => {
    const effects: Effects = SECURITY_EVENTS[event]
    const { userId, keepsConnections = effects.connections === 'stay' } = facts
    const connectedSinceMs = effects.connections === 'newer_go' ? requireTime(facts) : 0
    const providers = keepsConnections ? [] : await deps.disconnectProviders(transaction, userId, connectedSinceMs)
    if (effects.links !== 'stay') await deps.endLinks(transaction, userId, undoLinksSince(effects, facts))
    if (effects.browsers === 'end') await deps.forgetBrowsers(transaction, userId)
    if (effects.browsers === 'trust_ends') await deps.endTrust(transaction, userId)
    return { sessions: await endSessions(transaction, effects, facts), providers }
  }
}

const requireTime = ({ sinceMs }: EventFacts): number => {
  if (sinceMs === undefined) throw new TypeError('The event needs the time since when things end')
  return sinceMs
}

/** Undefined: no link of that kind ends. */
const undoLinksSince = ({ links }: Effects, facts: EventFacts): number | undefined => {
  if (links === 'die') return undefined
  return links === 'newer_die' ? requireTime(facts) : 0
}
