import { randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { seal } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Transaction } from '../storage/database.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Message } from './message.ts'
import { insertMessage, type NewMessage } from './outbox-store.ts'

/** A message that is ready to be sent. */
export interface OutgoingMessage {
  to: string
  /** The account that the message is about. */
  userId: string | undefined
  message: Message
  /** The message is not sent once this link is no longer live. */
  linkId?: string | undefined
  /** No attempt begins after this time: when the link ends, or 24 hours later for a notice. */
  expiresAtMs: number
}

/**
 * A message that was asked for by entering an address. Nothing was looked up yet, so that the response takes the
 * same time whether or not the address has an account.
 */
export interface MailRequest {
  purpose: 'reset' | 'signup' | 'new_email'
  /** As it was entered. */
  to: string
  /** What `prepare` needs; sealed in the database. */
  details: Record<string, string | undefined>
  expiresAtMs: number
}

/**
 * Messages to users. They are written in the transaction that causes them, and sent after the commit by one process at
 * a time. No request waits for SMTP.
 */
export interface Mail {
  /** Whether an SMTP server is configured. Otherwise nothing is written. */
  readonly isOn: boolean
  write(transaction: Transaction, message: OutgoingMessage): Promise<void>
  /** Writes a request; `prepare` turns it into a message, or into nothing, shortly afterwards. */
  request(transaction: Transaction, request: MailRequest): Promise<void>
}

interface MailDeps {
  clock: Clock
  rootSecret: RootSecret
  /** Undefined: mail is off. */
  settings: MailSettings | undefined
  /** Turns a request into a message; undefined when there is nothing to send. Called in the background. */
  prepare: (transaction: Transaction, request: MailRequest) => Promise<OutgoingMessage | undefined>
}

type UnsealedMessage = Omit<NewMessage, 'id' | 'contentSealed' | 'createdAtMs'>

const NOT_LOOKED_UP = { userId: undefined, linkId: undefined }

export const createMail = ({ clock, rootSecret, settings }: MailDeps): Mail => {
  const isOn = settings !== undefined

  const insert = async (transaction: Transaction, row: UnsealedMessage, content: object): Promise<void> => {
    if (!isOn) return
    const id = randomUUIDv7()
    const contentSealed = seal(rootSecret.keys.for('mail'), JSON.stringify(content), id)
    await insertMessage(transaction, { ...row, id, contentSealed, createdAtMs: clock.now() })
  }

  return {
    isOn,
    write: (transaction, { to: recipient, message, userId, linkId, expiresAtMs }) =>
      insert(transaction, { recipient, userId, linkId, expiresAtMs, purpose: message.kind, state: 'waiting' }, message),
    request: (transaction, { to: recipient, details, purpose, expiresAtMs }) =>
      insert(transaction, { ...NOT_LOOKED_UP, recipient, purpose, expiresAtMs, state: 'requested' }, details),
  }
}
