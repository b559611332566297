import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { endLease, takeLease } from '../storage/leases.ts'
import { createDispatcher, type Dispatcher, type Turn } from '../storage/outbox/dispatcher.ts'
import { createClient, handOver } from './hand-over.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Message, PrepareMessage } from './message.ts'
import { closeMessage, type MailOutcome, mailOutbox, type OutboxMessage } from './outbox-store.ts'
import { type ContentSealing, createPreparation } from './preparation.ts'
import type { SmtpClient } from './smtp/smtp-client.ts'
import { SmtpError } from './smtp/smtp-error.ts'

/**
 * A message is looked for this time after its commit. The work must not land right after the response that caused it,
 * since the same next request would always feel it.
 */
const wakeAfterMs = (): number => 50 + Math.random() * 100
/** A dead sender's lease ends after this time at the latest. */
const LEASE_MS = 30_000
const RENEW_EVERY_MS = 10_000
const LEASE = 'mail sender'
/** After the time limit of an attempt and this time, its process has stored the result, or is dead. */
const CLAIM_MARGIN_MS = 30_000

const FIRST_RETRY_MS = 30_000
const LONGEST_RETRY_MS = 3_600_000

/**
 * Computes the delay after so many attempts: 30 s, doubled each time, up to an hour. A random fifth comes on top, so
 * that messages that failed together do not return together.
 */
const retryDelayMs = (attempts: number): number =>
  Math.min(LONGEST_RETRY_MS, Math.round(FIRST_RETRY_MS * 2 ** (attempts - 1) * (1 + Math.random() / 5)))

interface MailSenderDeps {
  db: Database
  clock: Clock
  log: Log
  settings: MailSettings
  sealing: ContentSealing
  prepare: PrepareMessage
  isLinkLive: (linkId: string) => Promise<boolean>
  onOutcome?: ((outcome: MailOutcome) => void) | undefined
}

/** Sends due messages, one after the other. If there are several processes, one does so at a time. */
export const createMailSender = (deps: MailSenderDeps): Dispatcher => {
  const { db, clock, log, settings } = deps
  const handle = createHandleMessage(deps)
  const holder = randomToken(9)

  const reserve = (): Promise<boolean> =>
    takeLease(db, { name: LEASE, holder, forMs: LEASE_MS, longestMs: LEASE_MS, nowMs: clock.now() })

  /** A message that svc cannot handle must not hold up all others. */
  const setAside = async (message: OutboxMessage, error: unknown): Promise<void> => {
    if (error instanceof AppError && error.code === 'unavailable') throw error
    log.error({ err: error, message_id: message.id, purpose: message.purpose }, 'mail cannot be handled')
    await mailOutbox.postpone(db, message, { problem: 'svc failed: the log says why' }, clock.now() + retryDelayMs(1))
  }

  /** Holds the lease and a connection until no message is due. */
  const beginTurn = async (signal: AbortSignal): Promise<Turn<OutboxMessage> | undefined> => {
    if (!(await reserve())) return undefined
    let isLost = false
    const lose = () => {
      isLost = true
    }
    const renewal = setInterval(() => {
      reserve().then((isHeld) => isHeld || lose(), lose)
    }, RENEW_EVERY_MS)
    const client = createClient(settings)
    return {
      isOver: () => isLost,
      handle: async (message) => {
        try {
          await handle(message, client, signal).catch((error: unknown) => setAside(message, error))
          return true
        } catch (error) {
          log.error({ err: error }, 'mail outbox cannot be read')
          return false
        }
      },
      async end() {
        await client.close()
        clearInterval(renewal)
        await endLease(db, { name: LEASE, holder })
      },
    }
  }

  const dispatcher = createDispatcher({
    name: 'mail',
    log,
    atOnce: 1,
    findDue: (limit) => mailOutbox.findDue(db, clock.now(), limit),
    beginTurn,
    wakeAfterMs,
  })
  return {
    ...dispatcher,
    start() {
      dispatcher.start()
      // The first message must not load them: nothing may tell it apart from a request for an unknown address.
      void loadLibraries()
    },
  }
}

const loadLibraries = () =>
  Promise.all([
    import('./messages/render.ts'),
    import('nodemailer/lib/mail-composer'),
    import('nodemailer/lib/smtp-connection'),
  ])

/** Looks a request up, or sends a message, or drops it. Rejects if the result cannot be stored. */
type HandleMessage = (message: OutboxMessage, client: SmtpClient, signal: AbortSignal) => Promise<void>

const createHandleMessage = (deps: MailSenderDeps): HandleMessage => {
  const { db, clock, log, settings, sealing, isLinkLive, onOutcome } = deps
  const prepareMessage = createPreparation(deps)

  /** Says why a message must not be sent any more; resolves to undefined while it may be. */
  const findObstacle = async ({ expiresAtMs, linkId, readAtMs }: OutboxMessage): Promise<string | undefined> => {
    if (expiresAtMs <= (readAtMs ?? clock.now())) return 'its time was over'
    if (linkId !== null && !(await isLinkLive(linkId))) return 'its link was dead'
    return undefined
  }

  const drop = async (message: OutboxMessage, problem: string): Promise<void> => {
    const closedAtMs = clock.now()
    await mailOutbox.settle(db, message, {
      state: 'dropped',
      problem,
      closedAtMs,
      recipient: null,
      contentSealed: null,
    })
    log.info({ ...factsOf(message), problem }, 'mail dropped')
    onOutcome?.('dropped')
  }

  const send = async (message: OutboxMessage, client: SmtpClient, signal: AbortSignal): Promise<void> => {
    const { id, recipient } = message
    const content = sealing.open<Message>(message)
    if (!content || recipient === null) throw new Error(LOST_SECRET)
    await handOver(settings, client, { id, to: recipient, message: content }, signal)
  }

  const recordFailure = async (message: OutboxMessage, error: unknown, signal: AbortSignal): Promise<void> => {
    const { problem, isPermanent, ...where } = describe(error)
    log.warn({ ...factsOf(message), ...where, problem, retried: !isPermanent }, 'mail failed')
    onOutcome?.(isPermanent ? 'failed' : 'retried')
    if (isPermanent) {
      await closeMessage(db, message, { state: 'failed', problem, nowMs: clock.now() })
      return
    }
    // A message that a stopping process leaves may be sent by another at once.
    const untilMs = clock.now() + (signal.aborted ? 0 : retryDelayMs(message.attempts))
    await mailOutbox.postpone(db, message, { problem }, untilMs)
  }

  const attempt: HandleMessage = async (message, client, signal) => {
    const untilMs = clock.now() + settings.timeoutMs + CLAIM_MARGIN_MS
    if ((await mailOutbox.claim(db, message, untilMs)) === 0) return
    const claimed = { ...message, attempts: message.attempts + 1, nextAttemptAtMs: untilMs }
    try {
      await send(claimed, client, signal)
    } catch (error) {
      await recordFailure(claimed, error, signal)
      return
    }
    log.info(factsOf(claimed), 'mail sent')
    onOutcome?.('sent')
    await closeMessage(db, claimed, { state: 'sent', problem: null, nowMs: clock.now() })
  }

  return async (message, client, signal) => {
    const obstacle = await findObstacle(message)
    if (obstacle !== undefined) await drop(message, obstacle)
    else if (message.state !== 'requested') await attempt(message, client, signal)
    else if (!(await prepareMessage(message))) onOutcome?.('dropped')
  }
}

const LOST_SECRET = 'its content was sealed with a root secret that is no longer known (SVC_SECRET)'

const describe = (error: unknown) =>
  error instanceof SmtpError
    ? { problem: error.message, step: error.step, code: error.code, isPermanent: error.isPermanent }
    : { problem: 'svc cannot write this message', err: error, isPermanent: true }

/** These facts are for the log: they hold neither address nor content, which its readers need not know. */
const factsOf = ({ id, purpose, userId, attempts }: OutboxMessage) => ({
  message_id: id,
  purpose,
  user_id: userId ?? undefined,
  attempt: attempts,
})
