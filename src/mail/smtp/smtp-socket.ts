import { isIP, type Socket } from 'node:net'
import type { SmtpServer } from '../mail-settings.ts'

/** Loaded with the first message: a service without mail needs neither. */
const net = () => process.getBuiltinModule('node:net')
const tls = () => process.getBuiltinModule('node:tls')

/** Begins to connect, with TLS where the URL is smtps. Emits `error`, or what `readyEvent` names. */
export const openSocket = ({ host, port, tls: mode }: SmtpServer): Socket =>
  mode === 'implicit' ? tls().connect({ host, port, ...serverName(host) }) : net().connect({ host, port })

/** The event of a socket that is ready for SMTP: a TLS socket once its certificate was checked. */
export const readyEvent = ({ tls: mode }: SmtpServer): string => (mode === 'implicit' ? 'secureConnect' : 'connect')

/** An address cannot be a server name (RFC 6066 section 3). */
const serverName = (host: string): { servername?: string } => (isIP(host) === 0 ? { servername: host } : {})
