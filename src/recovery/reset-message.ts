import type { OutgoingMessage } from '../mail/mail.ts'
import type { Message } from '../mail/message.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import type { Link } from './link.ts'

type About = Pick<Extract<Message, { kind: 'reset' }>, 'by' | 'occurredAtMs' | 'device'>

/** The message with a link for a new password. */
export const resetMessage = (
  { id, email }: UserRecord,
  { link, url }: { link: Link; url: string },
  more: About,
): OutgoingMessage => ({
  to: email,
  userId: id,
  linkId: link.id,
  expiresAtMs: link.expiresAtMs,
  message: { kind: 'reset', email, url, expiresAtMs: link.expiresAtMs, ...more },
})
