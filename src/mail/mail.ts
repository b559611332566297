import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { type Clock, monotonicClock } from '../lib/time.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Dispatcher } from '../storage/outbox/dispatcher.ts'
import { MAX_COUNTED, type OutboxLoad, type OutboxPageRequest } from '../storage/outbox/outbox.ts'
import type { MailTestResult } from './hand-over.ts'
import type { MailSettings } from './mail-settings.ts'
import type { MailRequest, OutgoingMessage, PrepareMessage } from './message.ts'
import { forgetClosedMessagesOf, type MailOutcome, mailOutbox, type OutboxMessage } from './outbox-store.ts'
import { createContentSealing, inLanguageOfRecipient, toReadyRow } from './preparation.ts'

export type { MailRequest, OutgoingMessage } from './message.ts'
export { MAIL_OUTCOMES, type MailOutcome, type OutboxMessage } from './outbox-store.ts'
export type { SmtpStep } from './smtp/smtp-error.ts'

/**
 * Mail sends messages to users. They are written in the transaction that causes them, and sent after the commit by one
 * process at a time. No request waits for SMTP.
 */
export interface Mail {
  /** This tells whether an SMTP server is configured. Otherwise nothing is written. */
  readonly isOn: boolean
  write(transaction: Transaction, message: OutgoingMessage): Promise<void>
  /**
   * Writes a request; `prepare` turns it into a message, or into nothing, within a second or so. While ten thousand
   * messages wait, it is dropped.
   */
  request(transaction: Transaction, request: MailRequest): Promise<void>

  /** Begins to send in the background, if mail is on. */
  start(): Promise<void>
  /** Begins no more attempts; resolves when the running one has ended, or was aborted after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
  /** Counts the backlog; resolves to undefined while mail is off. */
  load(): Promise<OutboxLoad | undefined>

  /** Sends a message that says it is a test, without the outbox. */
  sendTest(to: string): Promise<MailTestResult>
  /** Connects to the server and authenticates, and sends nothing. */
  checkServer(): Promise<MailTestResult>

  /** Lists the latest messages, or those that failed, the newest first. */
  list(limit: number, isFailed?: boolean): Promise<OutboxMessage[]>
  /** A page of messages, the newest first. */
  listPage(request: OutboxPageRequest): Promise<OutboxMessage[]>
  /** Throws `not_found` if there is none. */
  requireMessage(id: string): Promise<OutboxMessage>
  /**
   * Makes a message due again. Throws `not_found` if there is none, and `conflict` if it can no longer be sent:
   * its recipient and content were forgotten, or its link is dead.
   */
  resend(id: string, caller?: Caller): Promise<OutboxMessage>
  /** Makes all messages due again that were given up since a time and can be sent; resolves to how many. */
  resendFailed(sinceMs: number, caller?: Caller): Promise<number>
  /** Forgets recipients and contents of a deleted user's messages. Messages that still wait are sent first. */
  forget(transaction: Transaction, userId: string): Promise<unknown>
  /** Cleans up: forgets recipient and content after a week, deletes rows after a month; resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

interface MailDeps {
  db: Database
  clock: Clock
  log: Log
  rootSecret: RootSecret
  recordEvent: RecordEvent
  /** It is undefined while mail is off. */
  settings: MailSettings | undefined
  /**
   * Turns a request into a message; resolves to undefined when there is nothing to send. It is called in the
   * background.
   */
  prepare: PrepareMessage
  isLinkLive: (linkId: string) => Promise<boolean>
  /** It is called with the outcome of each message that this process has handled. */
  onOutcome?: ((outcome: MailOutcome) => void) | undefined
}

const COUNT_EVERY_MS = 1000

/**
 * Tells whether too many messages wait for another request, counted once a second at most. The limits for one network
 * know nothing of other networks: an attacker with many of them could fill the disk with requests. Messages about
 * events are always written.
 */
const createRequestBound = (clock: Clock, log: Log): ((db: Queries) => Promise<boolean>) => {
  let countedAtMs = Number.NEGATIVE_INFINITY
  let isFull = false
  return async (db) => {
    const nowMs = monotonicClock.elapsedMs()
    if (nowMs - countedAtMs < COUNT_EVERY_MS) return isFull
    countedAtMs = nowMs
    const { open } = await mailOutbox.findLoad(db, clock.now())
    isFull = open >= MAX_COUNTED
    if (isFull) log.warn({ open }, 'mail outbox is full: requests for messages are dropped')
    return isFull
  }
}

export const createMail = (deps: MailDeps): Mail => {
  const { db, clock, log, rootSecret, settings, isLinkLive, recordEvent } = deps
  const sealing = createContentSealing(rootSecret)
  let sender: Dispatcher | undefined
  const isFull = createRequestBound(clock, log)

  const requireSettings = (): MailSettings => {
    if (settings) return settings
    throw new AppError('invalid_request', 'Mail is off: set SVC_SMTP_URL and SVC_MAIL_FROM.')
  }

  return {
    isOn: settings !== undefined,

    async write(transaction, message) {
      if (!settings) return
      const id = randomUUIDv7()
      const addressed = await inLanguageOfRecipient(transaction, message)
      const row = { id, createdAtMs: clock.now(), ...toReadyRow(addressed, { id, sealing }) }
      await mailOutbox.insert(transaction, [row])
      transaction.afterCommit(() => sender?.wake())
    },

    async request(transaction, { to: recipient, details, purpose, expiresAtMs }) {
      if (!settings || (await isFull(transaction))) return
      const id = randomUUIDv7()
      const contentSealed = sealing.seal(details, id)
      const row = { id, purpose, recipient, contentSealed, expiresAtMs, createdAtMs: clock.now() }
      // Nobody is woken up: the work for an address that has an account must not be felt near the response.
      await mailOutbox.insert(transaction, [{ ...row, state: 'requested' }])
    },

    async start() {
      if (!settings) return
      // The sender is loaded only now: neither a command nor a service without mail needs it.
      const { createMailSender } = await import('./sender.ts')
      sender = createMailSender({ ...deps, settings, sealing })
      sender.start()
    },
    stop: async (patienceMs) => sender?.stop(patienceMs),
    load: async () => settings && mailOutbox.findLoad(db, clock.now()),

    async sendTest(to) {
      const { sendTestMessage } = await import('./hand-over.ts')
      return sendTestMessage(requireSettings(), clock, to)
    },

    async checkServer() {
      const { checkServer } = await import('./hand-over.ts')
      return checkServer(requireSettings())
    },

    list: (limit, isFailed) => mailOutbox.findLatest(db, limit, isFailed),
    listPage: (request) => mailOutbox.findPage(db, request),
    requireMessage: async (id) => (await import('./history.ts')).requireMessage(db, id),

    async resend(id, caller) {
      requireSettings()
      const { resend } = await import('./history.ts')
      const message = await resend({ db, clock, isLinkLive, recordEvent }, id, caller)
      sender?.wake()
      return message
    },

    async resendFailed(sinceMs, caller) {
      requireSettings()
      const { resendFailed } = await import('./history.ts')
      const count = await resendFailed({ db, clock, isLinkLive, recordEvent }, sinceMs, caller)
      sender?.wake()
      return count
    },

    forget: forgetClosedMessagesOf,
    async deleteExpired(nowMs) {
      const { deleteExpired } = await import('./history.ts')
      return deleteExpired(db, nowMs)
    },
  }
}
