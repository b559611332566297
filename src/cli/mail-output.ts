import { toTimestamp } from '../lib/time.ts'
import type { OutboxMessage } from '../mail/mail.ts'
import { toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

const TONES = { requested: 'yellow', waiting: 'yellow', sent: 'green', failed: 'red', dropped: 'red' } as const

/** The state, with the reason where there is one. */
const outcomeOf = ({ state, problem }: OutboxMessage): string => (problem === null ? state : `${state} (${problem})`)

export const MAIL_COLUMNS: Column<OutboxMessage>[] = [
  // Never cut, because `resend` takes the whole id.
  { title: 'id', value: ({ id }) => id },
  { title: 'purpose', value: ({ purpose }) => purpose },
  { title: 'to', value: ({ recipient }) => recipient ?? '(forgotten)', minWidth: 12 },
  { title: 'outcome', value: outcomeOf, minWidth: 10, tone: ({ state }) => TONES[state] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
]

const toTime = (epochMs: number | null): string | null => (epochMs === null ? null : toTimestamp(epochMs))

/** A message without its content, which holds a token. */
export const messageToJson = (message: OutboxMessage) => ({
  id: message.id,
  purpose: message.purpose,
  to: message.recipient,
  user_id: message.userId,
  state: message.state,
  attempts: message.attempts,
  problem: message.problem,
  created_at: toTimestamp(message.createdAtMs),
  expires_at: toTimestamp(message.expiresAtMs),
  next_attempt_at: message.closedAtMs === null ? toTimestamp(message.nextAttemptAtMs) : null,
  closed_at: toTime(message.closedAtMs),
})
