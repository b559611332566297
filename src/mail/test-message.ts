import { randomUUIDv7 } from 'node:crypto'
import type { Clock } from '../lib/time.ts'
import { createClient, handOver } from './hand-over.ts'
import type { MailSettings } from './mail-settings.ts'
import type { SmtpClient } from './smtp/smtp-client.ts'
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
export const sendTestMessage = (settings: MailSettings, clock: Clock, to: string): Promise<MailTestResult> =>
  resultOf(settings, (client) => {
    const message = { kind: 'test', email: to, occurredAtMs: clock.now() } as const
    return handOver(settings, client, { id: randomUUIDv7(), to, message })
  })

/** Connects to the server and authenticates, and sends nothing. */
export const checkServer = (settings: MailSettings): Promise<MailTestResult> =>
  resultOf(settings, (client) => client.check())

const resultOf = async (
  settings: MailSettings,
  work: (client: SmtpClient) => Promise<void>,
): Promise<MailTestResult> => {
  const client = createClient(settings)
  try {
    await work(client)
    return { problem: undefined, step: undefined, code: undefined }
  } catch (error) {
    if (!(error instanceof SmtpError)) throw error
    return { problem: error.message, step: error.step, code: error.code }
  } finally {
    await client.close()
  }
}
