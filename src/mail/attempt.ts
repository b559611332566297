import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { handOver } from './hand-over.ts'
import type { MailOutcome } from './mail-outcome.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Message } from './message.ts'
import type { OutboxMessage } from './outbox-message.ts'
import { claimMessage, closeMessage, dropMessage, postponeMessage } from './outbox-store.ts'
import type { PrepareMessage } from './outgoing-message.ts'
import { createPreparation } from './preparation.ts'
import { retryDelayMs } from './retry-policy.ts'
import type { ContentSealing } from './sealed-content.ts'
import type { SmtpClient } from './smtp/smtp-client.ts'
import { SmtpError } from './smtp/smtp-error.ts'

export interface AttemptDeps {
  db: Database
  clock: Clock
  log: Log
  settings: MailSettings
  sealing: ContentSealing
  prepare: PrepareMessage
  isLinkLive: (linkId: string) => Promise<boolean>
  onOutcome?: ((outcome: MailOutcome) => void) | undefined
}

/** After the time limit of an attempt and this time, its process has stored the result, or is dead. */
const CLAIM_MARGIN_MS = 30_000

/** Does what is due for one message: looks up what was requested, sends, or drops it. Rejects if it cannot be stored. */
export type HandleMessage = (message: OutboxMessage, client: SmtpClient, signal: AbortSignal) => Promise<void>

export const createHandleMessage = (deps: AttemptDeps): HandleMessage => {
  const { db, clock, log, settings, sealing, isLinkLive, onOutcome } = deps
  const prepareMessage = createPreparation(deps)

  /** Why a message must not be sent any more; undefined while it may be. */
  const findObstacle = async ({ expiresAtMs, linkId, readAtMs }: OutboxMessage): Promise<string | undefined> => {
    if (expiresAtMs <= (readAtMs ?? clock.now())) return 'its time was over'
    if (linkId !== null && !(await isLinkLive(linkId))) return 'its link was dead'
    return undefined
  }

  const drop = async (message: OutboxMessage, problem: string): Promise<void> => {
    await dropMessage(db, message, { problem, nowMs: clock.now() })
    log.info({ ...factsOf(message), problem }, 'mail dropped')
    onOutcome?.('dropped')
  }

  const send = async (message: OutboxMessage, client: SmtpClient, signal: AbortSignal): Promise<void> => {
    const { id, recipient, contentSealed } = message
    const content = contentSealed === null ? undefined : sealing.open<Message>(contentSealed, id)
    if (!content || recipient === null) throw new Error(LOST_SECRET)
    await handOver(settings, client, { id, to: recipient, message: content }, signal)
  }

  const recordSuccess = async (message: OutboxMessage): Promise<void> => {
    log.info(factsOf(message), 'mail sent')
    onOutcome?.('sent')
    await closeMessage(db, message, { state: 'sent', problem: null, nowMs: clock.now() })
  }

  const recordFailure = async (message: OutboxMessage, error: unknown, signal: AbortSignal): Promise<void> => {
    const { problem, isPermanent, ...where } = describe(error)
    log.warn({ ...factsOf(message), ...where, problem, retried: !isPermanent }, 'mail failed')
    onOutcome?.(isPermanent ? 'failed' : 'retried')
    const nowMs = clock.now()
    if (isPermanent) {
      await closeMessage(db, message, { state: 'failed', problem, nowMs })
      return
    }
    // What a stopping process leaves, another may send at once.
    const untilMs = nowMs + (signal.aborted ? 0 : retryDelayMs(message.attempts))
    await postponeMessage(db, message, { problem, untilMs })
  }

  const attempt: HandleMessage = async (message, client, signal) => {
    const untilMs = clock.now() + settings.timeoutMs + CLAIM_MARGIN_MS
    if ((await claimMessage(db, message, untilMs)) === 0) return
    const claimed = { ...message, attempts: message.attempts + 1, nextAttemptAtMs: untilMs }
    try {
      await send(claimed, client, signal)
    } catch (error) {
      await recordFailure(claimed, error, signal)
      return
    }
    await recordSuccess(claimed)
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

/** Neither address nor content: operators who read the log need not know them. */
const factsOf = ({ id, purpose, userId, attempts }: OutboxMessage) => ({
  message_id: id,
  purpose,
  user_id: userId ?? undefined,
  attempt: attempts,
})
