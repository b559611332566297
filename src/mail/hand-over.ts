import { randomUUIDv7 } from 'node:crypto'
import { inLanguage } from '../languages/language.ts'
import type { Clock } from '../lib/time.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Message } from './message.ts'
import { undecoded } from './messages/harmless.ts'
import { createSmtpClient, type SmtpClient } from './smtp/smtp-client.ts'
import { SmtpError, type SmtpStep } from './smtp/smtp-error.ts'

/** Creates a client of the configured server, which the caller closes after use. */
export const createClient = ({ server, timeoutMs, branding }: MailSettings): SmtpClient =>
  createSmtpClient({ server, timeoutMs, clientName: clientNameOf(branding.baseUrl) })

/** RFC 5321 section 4.1.4 asks for a name with a dot, and no address. Otherwise the library finds one. */
const clientNameOf = (baseUrl: string): string | undefined => {
  const { hostname } = new URL(baseUrl)
  return /\.[a-z][a-z0-9-]*\.?$/.test(hostname) ? hostname : undefined
}

/** This is a message of the outbox, opened. */
interface OpenMessage {
  /** This is the id in the outbox: an attempt that is repeated has the same `Message-ID`. */
  id: string
  to: string
  message: Message
}

/** Renders a message and makes one attempt to hand it over. Rejects with an `SmtpError` if that fails. */
export const handOver = async (
  settings: MailSettings,
  client: SmtpClient,
  message: OpenMessage,
  signal?: AbortSignal,
): Promise<void> => {
  const source = await compose(settings, message)
  await client.send({ from: settings.from.address, to: message.to, source }, signal)
}

/** Writes a message as it goes over the wire: headers, text and HTML (RFC 5322, RFC 2046 section 5.1.4). */
const compose = async (
  { from, branding, languages }: MailSettings,
  { id, to, message }: OpenMessage,
): Promise<Buffer> => {
  const [{ renderMessage }, { default: MailComposer }] = await Promise.all([
    import('./messages/render.ts'),
    import('nodemailer/lib/mail-composer'),
  ])
  const language = languages.get(languages.suiting(message.language) ?? languages.usual)
  const { subject, text, html } = inLanguage(language, () => renderMessage(message, branding))
  return new MailComposer({
    from: { name: undecoded(from.name ?? ''), address: from.address },
    to: { name: '', address: to },
    subject: undecoded(subject),
    text,
    html,
    messageId: `<${id}@${new URL(branding.baseUrl).hostname}>`,
    // RFC 3834 section 5 defines it: no absence notice answers it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
}

export interface MailTestResult {
  /** It is undefined if the server has taken the message. */
  problem: string | undefined
  /** This step failed. */
  step: SmtpStep | undefined
  /** This is the code of the server's reply, if it refused. */
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
