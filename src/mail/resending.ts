import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { findMessage } from './outbox-history-store.ts'
import type { OutboxMessage } from './outbox-message.ts'
import { reopenMessage } from './outbox-store.ts'

interface ResendingDeps {
  db: Database
  clock: Clock
  isLinkLive: (linkId: string) => Promise<boolean>
}

/** A message without a link may be tried again for so long. */
const NOTICE_LIFETIME_MS = 24 * 3_600_000

/** Makes a message due again, with the same id. */
export const resend = async ({ db, clock, isLinkLive }: ResendingDeps, id: string): Promise<OutboxMessage> => {
  const message = await findMessage(db, id)
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
