import type { Languages } from '../languages/languages.ts'
import type { MessageBranding } from './messages/content.ts'

/** This server takes the mail; the members say how svc reaches it (RFC 8314). */
export interface SmtpServer {
  /** This is a name, or an IP address without brackets. */
  host: string
  port: number
  /**
   * `implicit` means TLS from the first byte. `starttls` is required before anything else. `offered` means STARTTLS if
   * the server offers it, with any certificate, since the connection does not leave this machine. `off` means no TLS.
   */
  tls: 'implicit' | 'starttls' | 'offered' | 'off'
  /** It is undefined if there is no authentication. */
  login: { user: string; password: string } | undefined
}

export interface Mailbox {
  name: string | undefined
  address: string
}

export interface MailSettings {
  server: SmtpServer
  from: Mailbox
  /** This is the time limit for one attempt to hand over a message. */
  timeoutMs: number
  branding: MessageBranding
  languages: Languages
}
