import { readEmail } from '../lib/email-address.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { open, seal } from '../lib/secrets.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { MailRequest, OutgoingMessage, PrepareMessage } from './message.ts'
import { deleteRequest, findLanguage, lockRequest, mailOutbox, type OutboxMessage } from './outbox-store.ts'

/** This is the purpose of the key that content is sealed with. */
const SEALING = 'mail'

/** Encrypts a message, which may hold a token, with a key from the root secret, for one row alone. */
export interface ContentSealing {
  seal(content: object, messageId: string): string
  /** Returns undefined if no known root secret has sealed it for this row, or it was forgotten. */
  open<Content>(row: Pick<OutboxMessage, 'id' | 'contentSealed'>): Content | undefined
}

export const createContentSealing = (rootSecret: RootSecret): ContentSealing => ({
  seal: (content, messageId) => seal(rootSecret.keys.for(SEALING), JSON.stringify(content), messageId),

  open<Content>({ id, contentSealed }: Pick<OutboxMessage, 'id' | 'contentSealed'>) {
    if (contentSealed === null) return undefined
    const text = rootSecret.find((keys) => open(keys.for(SEALING), contentSealed, id)?.toString())
    return text === undefined ? undefined : (JSON.parse(text) as Content)
  },
})

/** Makes the columns of a message that is ready to be sent. */
export const toReadyRow = (
  { to, message, userId, linkId, expiresAtMs }: OutgoingMessage,
  { id, sealing }: { id: string; sealing: ContentSealing },
): Partial<OutboxMessage> => ({
  purpose: message.kind,
  userId: userId ?? null,
  recipient: to,
  contentSealed: sealing.seal(message, id),
  linkId: linkId ?? null,
  state: 'waiting',
  expiresAtMs,
})

/**
 * Notes the language of the recipient: that of the account with the address, or else of the account that the message is
 * about. A message to an address without an account keeps that of the page on which the address was entered.
 */
export const inLanguageOfRecipient = async (
  transaction: Transaction,
  outgoing: OutgoingMessage,
): Promise<OutgoingMessage> => {
  const { to, userId = '', message } = outgoing
  const lower = readEmail(to)?.lower ?? ''
  const row = await findLanguage(transaction, { emailLower: lower, userId })
  return row ? { ...outgoing, message: { ...message, language: row.language ?? undefined } } : outgoing
}

interface PreparationDeps {
  db: Database
  sealing: ContentSealing
  prepare: PrepareMessage
}

/**
 * Looks up the account of a request, and replaces the request by its message, or deletes it: then it resolves to false.
 */
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
      const addressed = await inLanguageOfRecipient(transaction, message)
      await mailOutbox.settle(transaction, requested, toReadyRow(addressed, { id: requested.id, sealing }))
      return true
    })

/** Returns undefined if the root secret that sealed it is gone. */
const toRequest = (row: OutboxMessage, sealing: ContentSealing): MailRequest | undefined => {
  const { recipient, expiresAtMs } = row
  const details = sealing.open<MailRequest['details']>(row)
  if (!details || recipient === null) return undefined
  return { purpose: row.purpose as MailRequest['purpose'], to: recipient, details, expiresAtMs }
}
