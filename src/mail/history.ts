import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, inBatches } from '../storage/database.ts'
import {
  dropExpiredMessages,
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
}

/** Makes a message due again, with the same id. */
export const resend = async ({ db, clock, isLinkLive }: ResendingDeps, id: string): Promise<OutboxMessage> => {
  const message = await mailOutbox.find(db, id)
  if (!message) throw new AppError('not_found', `There is no message ${id}.`)
  const refuse = (reason: string) => new AppError('invalid_request', `Message ${id} cannot be sent again: ${reason}.`)
  if (message.state === 'requested') throw refuse('it has not been looked up yet')
  if (message.contentSealed === null) throw refuse('its recipient and content were forgotten')
  const nowMs = clock.now()
  if (message.linkId !== null && !(await isLinkLive(message.linkId))) throw refuse('its link is dead')
  const expiresAtMs = message.linkId === null ? nowMs + NOTICE_LIFETIME_MS : message.expiresAtMs
  if ((await reopenMessage(db, message, { expiresAtMs, nowMs })) === 0) throw refuse('it is being sent at this moment')
  return message
}
