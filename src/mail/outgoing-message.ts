import type { Transaction } from '../storage/database.ts'
import type { Message } from './message.ts'

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
  purpose: 'reset' | 'signup' | 'new_email' | 'login_limited'
  /** As it was entered. */
  to: string
  /** What `prepare` needs; sealed in the database. */
  details: Record<string, string | undefined>
  expiresAtMs: number
}

/** Turns a request into a message; undefined when there is nothing to send. */
export type PrepareMessage = (transaction: Transaction, request: MailRequest) => Promise<OutgoingMessage | undefined>
