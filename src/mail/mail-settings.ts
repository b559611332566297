/** Where mail is handed over (RFC 8314). */
export interface SmtpServer {
  host: string
  port: number
  /** `implicit`: TLS from the first byte; `starttls`: required before anything else; `off`: none. */
  tls: 'implicit' | 'starttls' | 'off'
  user: string | undefined
  password: string | undefined
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
}
