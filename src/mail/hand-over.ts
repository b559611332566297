import { compose } from './compose.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Message } from './message.ts'
import { createSmtpClient, type SmtpClient } from './smtp/smtp-client.ts'

/** A client of the configured server, to be closed after use. */
export const createClient = ({ server, timeoutMs, branding }: MailSettings): SmtpClient =>
  createSmtpClient({ server, timeoutMs, clientName: clientNameOf(branding.baseUrl) })

/** RFC 5321 section 4.1.4: a name with a dot, and no address. Otherwise the library finds one. */
const clientNameOf = (baseUrl: string): string | undefined => {
  const { hostname } = new URL(baseUrl)
  return /\.[a-z][a-z0-9-]*\.?$/.test(hostname) ? hostname : undefined
}

/** A message of the outbox, opened. */
interface OpenMessage {
  id: string
  to: string
  message: Message
}

/** Renders a message and makes one attempt to hand it over. Rejects with an `SmtpError` where that fails. */
export const handOver = async (
  { from, branding }: MailSettings,
  client: SmtpClient,
  { id, to, message }: OpenMessage,
  signal?: AbortSignal,
): Promise<void> => {
  const { renderMessage } = await import('./messages/render.ts')
  const rendered = renderMessage(message, branding)
  const source = await compose({ ...rendered, id, from, to, baseUrl: branding.baseUrl })
  await client.send({ from: from.address, to, source }, signal)
}
