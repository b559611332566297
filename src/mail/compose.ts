import type { Mailbox } from './mail-settings.ts'
import { undecoded } from './messages/harmless.ts'
import type { RenderedMessage } from './messages/render.ts'

interface Composition extends RenderedMessage {
  /** The id of the message in the outbox: an attempt that is repeated has the same `Message-ID`. */
  id: string
  from: Mailbox
  to: string
  /** The public origin. */
  baseUrl: string
}

/** Writes a message as it goes over the wire: headers, text and HTML (RFC 5322, RFC 2046 section 5.1.4). */
export const compose = async ({ id, from, to, baseUrl, ...rendered }: Composition): Promise<Buffer> => {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const { subject, text, html } = rendered
  return new MailComposer({
    from: { name: undecoded(from.name ?? ''), address: from.address },
    to: { name: '', address: to },
    subject: undecoded(subject),
    text,
    html,
    messageId: `<${id}@${new URL(baseUrl).hostname}>`,
    // RFC 3834 section 5: no absence notice answers it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
}
