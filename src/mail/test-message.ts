import { randomUUIDv7 } from 'node:crypto'
import type { Clock } from '../lib/time.ts'
import { createClient, handOver } from './hand-over.ts'
import type { MailSettings } from './mail-settings.ts'
import { SmtpError, type SmtpStep } from './smtp/smtp-error.ts'

/** What came of a test message. */
export interface MailTestResult {
  /** Undefined: the server has taken the message. */
  problem: string | undefined
  /** Where it failed. */
  step: SmtpStep | undefined
  /** The code of the server's reply, where it refused. */
  code: number | undefined
}

/** Sends a message that says it is a test, without the outbox. */
export const sendTestMessage = async (settings: MailSettings, clock: Clock, to: string): Promise<MailTestResult> => {
  const client = createClient(settings)
  try {
    const message = { kind: 'test', email: to, occurredAtMs: clock.now() } as const
    await handOver(settings, client, { id: randomUUIDv7(), to, message })
    return { problem: undefined, step: undefined, code: undefined }
  } catch (error) {
    if (!(error instanceof SmtpError)) throw error
    return { problem: error.message, step: error.step, code: error.code }
  } finally {
    await client.close()
  }
}
