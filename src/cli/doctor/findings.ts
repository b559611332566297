import type { SmtpStep } from '../../mail/mail.ts'

export interface Finding {
  code: FindingCode
  message: string
  cure: string
}

/** Each finding has a cure, by its code. Codes are stable: docs/faults.md lists them. */
const CURES = {
  // These say why svc is not reached.
  unreachable: 'Check the address, the name server, the firewall and whether the proxy runs.',
  certificate_refused:
    'Serve the whole chain of a certificate for this name. For an authority of your own, give its file with --ca.',
  redirected: 'Run svc doctor with the address to which it redirects, and set SVC_BASE_URL to that.',
  no_backend: 'Start svc, and let the proxy pass /auth to its SVC_HOST and SVC_PORT.',
  not_svc: 'Let the proxy pass /auth, and everything below it, to svc.',
  probe_unanswered:
    'Run the command with the settings of the service (SVC_SECRET or its file, SVC_DATABASE_URL), and let the proxy pass the header Svc-Probe.',
  // These are about the path.
  prefix_stripped: 'Do not take /auth away. In nginx: write proxy_pass without a path and without a slash at its end.',
  prefix_doubled: 'Do not add /auth: the request has it already. In nginx: write proxy_pass without a path.',
  path_changed: 'Pass the path and the query as they came, without decoding or cleaning them.',
  // These are about the headers with which a proxy describes a request.
  base_url_differs: 'Set SVC_BASE_URL to the address that users open: scheme, host and port all count.',
  host_lost: 'Pass the host of the request. In nginx: proxy_set_header Host $http_host;',
  scheme_lost:
    'Let the proxy that ends TLS send X-Forwarded-Proto: https, and all others pass it on. In nginx: proxy_set_header X-Forwarded-Proto $scheme;',
  proxy_not_trusted: 'Name the address of the proxy in SVC_TRUST_PROXY; otherwise all visitors share one address.',
  client_addresses_alike:
    'Let the proxy send X-Forwarded-For; otherwise all visitors share one address, and one limit, so that a few can keep all others out. In nginx: proxy_set_header X-Forwarded-For $remote_addr;',
  // These are about cookies.
  cookies_lost: 'Pass the header Cookie unchanged, to svc and to the application.',
  cookies_renamed: 'Pass the header Cookie unchanged: take away what renames cookies or adds a prefix.',
  set_cookie_lost:
    'Pass each header Set-Cookie of svc on as a header of its own. In nginx: take away proxy_hide_header Set-Cookie.',
  set_cookie_changed:
    'Pass the header Set-Cookie unchanged: take away what changes paths, domains or flags. In nginx: proxy_cookie_path, proxy_cookie_domain, proxy_cookie_flags.',
  cookies_not_secure: 'Leave the flag Secure on cookies: take away what removes it.',
  // These are about limits and caches of proxies.
  responses_cached:
    'Do not cache what says Cache-Control: no-store. In nginx: take away proxy_ignore_headers and proxy_cache below /auth.',
  request_headers_too_large: 'Accept request headers of 16 KiB. In nginx: large_client_header_buffers 4 16k;',
  response_headers_too_large: 'Accept response headers of 8 KiB. In nginx: proxy_buffer_size 8k;',
  streams_buffered:
    'Pass event streams on as they come: readers of revocations learn too late otherwise. In nginx: take text/event-stream away from gzip_types, and proxy_ignore_headers X-Accel-Buffering.',
  // These are about clients, while SVC_CLIENTS is on.
  discovery_missing:
    'Start the service with SVC_CLIENTS=on, as this command has it, and let the proxy pass /auth/.well-known/ to svc.',
  issuer_differs: 'Set SVC_BASE_URL to the address that users open: clients refuse a document of another issuer.',
  discovery_hidden:
    'Let the proxy pass this address to svc, as the files in deploy/ do, or let the application answer 404 there: clients give up at anything else.',
  authorization_lost:
    'Pass the header Authorization unchanged, to svc and to the application: tokens are in it. In nginx: take away proxy_set_header Authorization and auth_basic below /auth.',
  // These are about the installation.
  clock_differs: 'Synchronize the clocks of all machines (NTP).',
  database_missing: 'Run the command in the folder of the service and with its settings, or start svc once.',
  database_unreachable: 'Check SVC_DATABASE_URL, the server, and the permissions of the file.',
  migrations_pending: 'Start the new version of svc, or run svc migrate.',
  keys_unreadable:
    'Put back the root secret that the database was made with (SVC_SECRET, or svc.secret beside the file).',
  keys_differ: 'The address leads to another installation: check the proxy, SVC_DATABASE_URL, and caches in between.',
  disk_low: 'Free space, or move the database to a larger disk.',
  hashes_uncheckable:
    'Let them choose a new password (svc users reset-link USER), or give svc more memory. The log names them: password_uncheckable.',
  search_unindexed:
    'Make the index: CREATE EXTENSION pg_trgm in the database, as a superuser or its owner, and then svc database index.',
  admin_unreachable:
    'Let a host of the proxy lead SVC_ADMIN_URL to SVC_HOST and SVC_ADMIN_PORT: deploy/ has a file for each. From a network that it refuses, run svc doctor elsewhere.',
  admin_host_lost: 'Pass the host of the request to SVC_ADMIN_PORT. In nginx: proxy_set_header Host $http_host;',
  webhook_failed: 'Check SVC_WEBHOOK_URL and the receiver: svc webhooks test shows the same.',
  smtp_failed: 'Check SVC_SMTP_URL: svc mail test ADDRESS sends a message.',
} as const satisfies Record<string, string>

export type FindingCode = keyof typeof CURES

export const FINDING_CODES = Object.keys(CURES) as FindingCode[]

/** Makes a finding with the cure of its code, unless there is a better one. */
export const finding = (code: FindingCode, message: string, cure: string = CURES[code]): Finding => ({
  code,
  // Parts of the message come from the network, and must not steer the terminal.
  message: message.replace(/\p{Cc}/gu, '�'),
  cure,
})

/** Clocks that differ by more than this make tokens and codes fail. */
const MAX_CLOCK_DIFFERENCE_MS = 10_000

/** `aheadMs` says by how much the other clock is ahead of that of this machine. */
export const clockDiffers = (whose: 'service' | 'database', aheadMs: number): Finding => {
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  return finding('clock_differs', `The clock of the ${whose} is ${seconds} s ${direction} that of this machine.`)
}

export const checkClock = (whose: 'service' | 'database', aheadMs: number): Finding[] =>
  Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS ? [clockDiffers(whose, aheadMs)] : []

/** Each step in which a conversation with the mail server can fail has a cure. */
export const SMTP_HINTS: Record<SmtpStep, string> = {
  name: 'Check the host in SVC_SMTP_URL, and the name server of this machine.',
  connection: 'Check host and port in SVC_SMTP_URL, and whether a firewall blocks the port: many networks block 25.',
  greeting: 'Check the port in SVC_SMTP_URL: 587 is usual with smtp://, and 465 with smtps://.',
  tls: 'Check scheme and port in SVC_SMTP_URL: 587 is usual with smtp://, and 465 with smtps://.',
  certificate:
    'The host in SVC_SMTP_URL must be a name of the certificate. NODE_EXTRA_CA_CERTS names an authority of your own.',
  authentication:
    'Check user and password in SVC_SMTP_URL: both are percent-encoded, and many providers want an API key or an app password.',
  sender: 'SVC_MAIL_FROM must be an address from which this user may send.',
  recipient: 'Try another address: the server may send to some only, or may want a user and a password.',
  message: 'The server has the last word: ask its operator.',
}
