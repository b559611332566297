import type { MessageBranding } from './messages/content.ts'

/** The server that takes the mail, and the way to reach it (RFC 8314). */
export interface SmtpServer {
  /** A name, or an IP address without brackets. */
  host: string
  port: number
  /**
   * `implicit`: TLS from the first byte. `starttls`: required before anything else. `offered`: STARTTLS where the server
   * offers it, with any certificate, since the connection does not leave this machine. `off`: none.
   */
  tls: 'implicit' | 'starttls' | 'offered' | 'off'
  /** Undefined: without authentication. */
  login: { user: string; password: string } | undefined
}

/** The sender of messages. */
export interface Mailbox {
  name: string | undefined
  address: string
}

export interface MailSettings {
  server: SmtpServer
  from: Mailbox
  /** Time limit for one attempt to hand over a message. */
  timeoutMs: number
  branding: MessageBranding
}
