import { withTimeout } from '../../lib/time.ts'
import { createSmtpConnection, type Envelope, type SmtpConnection, type SmtpConnectionDeps } from './smtp-connection.ts'
import { explain, explainTimeout, SmtpError } from './smtp-error.ts'

/** Hands messages over, one after the other, over a connection that is kept between them. */
export interface SmtpClient {
  /**
   * Makes one attempt: connects if there is no connection, authenticates, and sends. Rejects with an `SmtpError`, after
   * the time limit at the latest.
   */
  send(message: Envelope, signal?: AbortSignal): Promise<void>
  /** Connects and authenticates, and sends nothing. Rejects as `send` does. */
  check(): Promise<void>
  /** Ends the connection. Never rejects. */
  close(): Promise<void>
}

/** Many servers end a connection after a hundred messages. */
const MESSAGES_PER_CONNECTION = 50

/** A server may take this time to answer the goodbye. */
const GOODBYE_MS = 1000

export const createSmtpClient = (deps: SmtpConnectionDeps): SmtpClient => {
  let kept: SmtpConnection | undefined
  let messagesSent = 0

  const close = async (): Promise<void> => {
    const connection = kept
    kept = undefined
    if (!connection) return
    await withTimeout(GOODBYE_MS, connection.quit(), undefined)
    connection.destroy()
  }

  /** Tells whether the kept connection still takes a message: its server may have ended it in the meantime. */
  const isUsable = async (connection: SmtpConnection): Promise<boolean> => {
    if (messagesSent >= MESSAGES_PER_CONNECTION) return false
    return connection.reset().then(
      () => true,
      () => false,
    )
  }

  const renew = async (isOver: () => boolean): Promise<SmtpConnection> => {
    if (kept && (await isUsable(kept))) return kept
    // An attempt that was cut off must not open a connection that nobody closes.
    if (isOver()) throw new Error('cut off')
    kept?.destroy()
    kept = createSmtpConnection(deps)
    messagesSent = 0
    await kept.open()
    return kept
  }

  const attempt = async (message: Envelope, isOver: () => boolean): Promise<void> => {
    await (await renew(isOver)).send(message)
    messagesSent += 1
  }

  const circumstances = () => (kept ?? createSmtpConnection(deps)).circumstances()

  const withinTimeLimit = async (work: (isOver: () => boolean) => Promise<unknown>, signal?: AbortSignal) => {
    const { promise: cutOff, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(explainTimeout(circumstances())), deps.timeoutMs)
    const onAbort = () => reject(new SmtpError({ step: 'message', text: 'cut off as the service stopped' }))
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    let isOver = false
    try {
      await Promise.race([work(() => isOver), cutOff])
    } catch (error) {
      const explained = explain(error, circumstances())
      kept?.destroy()
      kept = undefined
      throw explained
    } finally {
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  return {
    send: (message, signal) => withinTimeLimit((isOver) => attempt(message, isOver), signal),
    check: () => withinTimeLimit(renew),
    close,
  }
}
