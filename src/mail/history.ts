import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, inBatches, type Queries } from '../storage/database.ts'
import {
  dropExpiredMessages,
  findFailedMessages,
  forgetMessagesClosedBefore,
  mailOutbox,
  type OutboxMessage,
  reopenMessage,
} from './outbox-store.ts'

const DAY_MS = 24 * 3_600_000
/** The recipient and the content of a message are known for this time. */
const FORGET_AFTER_MS = 7 * DAY_MS
/** The message itself is known for this time. */
const DELETE_AFTER_MS = 30 * DAY_MS
/** A message that has no link may be tried again for this time. */
const NOTICE_LIFETIME_MS = DAY_MS

/**
 * Drops the messages that were not sent in time, forgets recipients and contents, deletes old rows; resolves to how
 * many.
 */
export const deleteExpired = async (db: Database, nowMs: number): Promise<number> => {
  await inBatches((limit) => dropExpiredMessages(db, nowMs, limit))
  await inBatches((limit) => forgetMessagesClosedBefore(db, nowMs - FORGET_AFTER_MS, limit))
  return inBatches((limit) => mailOutbox.deleteClosedBefore(db, nowMs - DELETE_AFTER_MS, limit))
}

interface ResendingDeps {
  db: Database
  clock: Clock
  isLinkLive: (linkId: string) => Promise<boolean>
  recordEvent: RecordEvent
}

export const requireMessage = async (db: Queries, id: string): Promise<OutboxMessage> => {
  const message = await mailOutbox.find(db, id)
  if (message) return message
  throw new AppError('not_found', `There is no message ${id}.`)
}

/** Makes a message due again, with the same id. */
export const resend = async (deps: ResendingDeps, id: string, caller?: Caller): Promise<OutboxMessage> => {
  const { db, clock, isLinkLive, recordEvent } = deps
  const message = await requireMessage(db, id)
  const { userId } = message
  const refuse = (reason: string) =>
    new AppError('conflict', `Message ${id} cannot be sent again: ${reason}.`, { reason: 'not_sendable' })
  if (message.state === 'requested') throw refuse('it has not been looked up yet')
  if (message.contentSealed === null) throw refuse('its recipient and content were forgotten')
  const nowMs = clock.now()
  if (message.linkId !== null && !(await isLinkLive(message.linkId))) throw refuse('its link is dead')
  const expiresAtMs = message.linkId === null ? nowMs + NOTICE_LIFETIME_MS : message.expiresAtMs
  await db.inTransaction(async (transaction) => {
    const changes = await reopenMessage(transaction, message, { expiresAtMs, nowMs })
    if (changes === 0) throw refuse('it is being sent at this moment')
    const event = { type: 'mail.resent', userId: userId ?? undefined, details: { messageId: id } } as const
    await recordEvent(transaction, event, caller)
  })
  return message
}

const AT_ONCE = 100

/** Makes all messages due again that were given up since a time; those that can no longer be sent are left as they are. */
export const resendFailed = async (deps: ResendingDeps, sinceMs: number, caller?: Caller): Promise<number> => {
  const untilMs = deps.clock.now()
  let count = 0
  let afterId = ''
  for (;;) {
    const ids = await findFailedMessages(deps.db, { sinceMs, untilMs, afterId, limit: AT_ONCE })
    for (const id of ids) count += await resendOrLeave(deps, id, caller)
    if (ids.length < AT_ONCE) return count
    afterId = ids.at(-1) ?? afterId
  }
}

const resendOrLeave = async (deps: ResendingDeps, id: string, caller: Caller | undefined): Promise<number> => {
  try {
    await resend(deps, id, caller)
    return 1
  } catch (error) {
    if (error instanceof AppError && error.reason === 'not_sendable') return 0
    throw error
  }
}
