import type { Database } from '../storage/database.ts'
import type { MailRequest, OutgoingMessage, PrepareMessage } from './outgoing-message.ts'
import type { OutboxMessage } from './outbox-message.ts'
import { deleteRequest, fillMessage, lockRequest, type NewMessage } from './outbox-store.ts'
import type { ContentSealing } from './sealed-content.ts'

/** The row of a message that is ready to be sent. */
export const toNewMessage = (
  { to, message, userId, linkId, expiresAtMs }: OutgoingMessage,
  { id, sealing, nowMs }: { id: string; sealing: ContentSealing; nowMs: number },
): NewMessage => ({
  id,
  purpose: message.kind,
  userId,
  recipient: to,
  contentSealed: sealing.seal(message, id),
  linkId,
  state: 'waiting',
  createdAtMs: nowMs,
  expiresAtMs,
})

interface PreparationDeps {
  db: Database
  sealing: ContentSealing
  prepare: PrepareMessage
}

/** Looks up what a request is about, and replaces it by its message, or deletes it: then it resolves to false. */
export const createPreparation =
  ({ db, sealing, prepare }: PreparationDeps) =>
  (requested: OutboxMessage): Promise<boolean> =>
    db.inTransaction(async (transaction) => {
      // A process that was frozen for longer than its lease may look at the same request: only one makes a link of it.
      if (!(await lockRequest(transaction, requested))) return true
      const request = toRequest(requested, sealing)
      const message = request && (await prepare(transaction, request))
      if (!message) {
        await deleteRequest(transaction, requested)
        return false
      }
      const { id, createdAtMs } = requested
      await fillMessage(transaction, requested, toNewMessage(message, { id, sealing, nowMs: createdAtMs }))
      return true
    })

/** Undefined where the root secret that sealed it is gone. */
const toRequest = (row: OutboxMessage, sealing: ContentSealing): MailRequest | undefined => {
  const { id, recipient, contentSealed, expiresAtMs } = row
  const details = contentSealed === null ? undefined : sealing.open<MailRequest['details']>(contentSealed, id)
  if (!details || recipient === null) return undefined
  return { purpose: row.purpose as MailRequest['purpose'], to: recipient, details, expiresAtMs }
}
