import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { endLease, takeLease } from '../storage/leases.ts'
import { type AttemptDeps, createHandleMessage } from './attempt.ts'
import { createClient } from './hand-over.ts'
import type { OutboxMessage } from './outbox-message.ts'
import { findDueMessage, postponeMessage } from './outbox-store.ts'
import { retryDelayMs } from './retry-policy.ts'
import type { SmtpClient } from './smtp/smtp-client.ts'

/** Interval for finding messages of other processes, requests, and retries that are due. */
const POLL_MS = 1000
/**
 * How long after its commit a message is looked for. The work must not land right after the response that caused it,
 * where always the same next request would feel it.
 */
const wakeAfterMs = (): number => 50 + Math.random() * 100
/** A dead sender's lease ends after this time at the latest. */
const LEASE_MS = 30_000
const RENEW_EVERY_MS = 10_000
const LEASE = 'mail sender'

/** Sends due messages, one after the other. Of several processes, one does so at a time. */
export interface Sender {
  start(): void
  /** Looks for due messages shortly, once it has been started. */
  wake(): void
  /** Begins no more attempts; resolves when the running one has ended, or was aborted after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
}

export const createSender = (deps: AttemptDeps): Sender => {
  const { db, clock, log, settings } = deps
  const handle = createHandleMessage(deps)
  const abort = new AbortController()
  const holder = randomToken(9)
  let timer: NodeJS.Timeout | undefined
  let waking: NodeJS.Timeout | undefined
  let turn: Promise<void> | undefined

  const isStopped = (): boolean => timer === undefined

  const reserve = (): Promise<boolean> =>
    takeLease(db, { name: LEASE, holder, forMs: LEASE_MS, longestMs: LEASE_MS, nowMs: clock.now() })

  /** Keeps the lease while `work` runs, which is told when it is lost, and gives it back. */
  const withLease = async (work: (isLost: () => boolean) => Promise<void>): Promise<void> => {
    if (!(await reserve())) return
    let isLost = false
    const lose = () => {
      isLost = true
    }
    const renewal = setInterval(() => {
      reserve().then((isHeld) => isHeld || lose(), lose)
    }, RENEW_EVERY_MS)
    try {
      await work(() => isLost)
    } finally {
      clearInterval(renewal)
      await endLease(db, { name: LEASE, holder })
    }
  }

  /** A message that svc cannot handle must not hold up all others. */
  const setAside = async (message: OutboxMessage, error: unknown): Promise<void> => {
    if (error instanceof AppError && error.code === 'unavailable') throw error
    log.error({ err: error, message_id: message.id, purpose: message.purpose }, 'mail cannot be handled')
    const untilMs = clock.now() + retryDelayMs(1)
    await postponeMessage(db, message, { problem: 'svc failed: the log says why', untilMs })
  }

  const sendDue = async (client: SmtpClient, isLost: () => boolean): Promise<void> => {
    for (;;) {
      const message = isStopped() || isLost() ? undefined : await findDueMessage(db, clock.now())
      if (!message) return
      await handle(message, client, abort.signal).catch((error: unknown) => setAside(message, error))
    }
  }

  const takeTurn = async (): Promise<void> => {
    if (!(await findDueMessage(db, clock.now()))) return
    await withLease(async (isLost) => {
      const client = createClient(settings)
      await sendDue(client, isLost).finally(client.close)
    })
  }

  const poll = (): void => {
    if (!timer) return
    turn ??= takeTurn()
      .catch((error: unknown) => log.error({ err: error }, 'mail outbox cannot be read'))
      .finally(() => {
        turn = undefined
      })
  }

  return {
    start() {
      timer = setInterval(poll, POLL_MS).unref()
      // Now, and not with the first message, which nothing must tell apart from a request for an unknown address.
      void loadLibraries()
    },
    wake() {
      if (!timer || waking) return
      waking = setTimeout(() => {
        waking = undefined
        poll()
      }, wakeAfterMs()).unref()
    },
    async stop(patienceMs) {
      clearInterval(timer)
      clearTimeout(waking)
      timer = undefined
      const aborting = setTimeout(() => abort.abort(), patienceMs)
      await turn
      clearTimeout(aborting)
    },
  }
}

const loadLibraries = () =>
  Promise.all([
    import('./messages/render.ts'),
    import('nodemailer/lib/mail-composer'),
    import('nodemailer/lib/smtp-connection'),
  ])
