/** A problem and what to do about it. */
export interface Finding {
  code: FindingCode
  message: string
  cure: string
}

/** The cure of each finding, by its code. Codes are stable: docs/operate.md lists them. */
const CURES = {
  // Reaching svc
  unreachable: 'Check the address, the name server, the firewall and whether the proxy runs.',
  certificate_refused:
    'Serve the whole chain of a certificate for this name. For an authority of your own, give its file with --ca.',
  redirected: 'Run svc doctor with the address to which it redirects, and set SVC_BASE_URL to that.',
  no_backend: 'Start svc, and let the proxy pass /auth to its SVC_HOST and SVC_PORT.',
  not_svc: 'Let the proxy pass /auth, and everything below it, to svc.',
  probe_unanswered:
    'Run the command with the settings of the service (SVC_SECRET or its file, SVC_DATABASE_URL), and let the proxy pass the header Svc-Probe.',
  // The path
  prefix_stripped: 'Do not take /auth away. In nginx: write proxy_pass without a path and without a slash at its end.',
  prefix_doubled: 'Do not add /auth: the request has it already. In nginx: write proxy_pass without a path.',
  path_changed: 'Pass the path and the query as they came, without decoding or cleaning them.',
  // What proxies say about a request
  base_url_differs: 'Set SVC_BASE_URL to the address that users open: scheme, host and port all count.',
  host_lost: 'Pass the host of the request. In nginx: proxy_set_header Host $http_host;',
  scheme_lost:
    'Let the proxy that ends TLS send X-Forwarded-Proto: https, and all others pass it on. In nginx: proxy_set_header X-Forwarded-Proto $scheme;',
  proxy_not_trusted: 'Name the address of the proxy in SVC_TRUST_PROXY; otherwise all visitors share one address.',
  client_addresses_alike:
    'Let the proxy send X-Forwarded-For; otherwise all visitors share one address, and one limit, so that a few can keep all others out. In nginx: proxy_set_header X-Forwarded-For $remote_addr;',
  // Cookies
  cookies_lost: 'Pass the header Cookie unchanged, to svc and to the application.',
  cookies_renamed: 'Pass the header Cookie unchanged: take away what renames cookies or adds a prefix.',
  cookies_folded:
    'Pass the header Cookie unchanged: cookies are separated by "; ", and their names are case-sensitive.',
  set_cookie_lost: 'Pass every header Set-Cookie of svc on. In nginx: take away proxy_hide_header Set-Cookie.',
  set_cookie_merged:
    'Pass each header Set-Cookie on as a header of its own: browsers do not read them joined by commas.',
  set_cookie_changed:
    'Pass the header Set-Cookie unchanged: take away what changes paths, domains or flags. In nginx: proxy_cookie_path, proxy_cookie_domain, proxy_cookie_flags.',
  cookies_not_secure: 'Leave the flag Secure on cookies: take away what removes it.',
  // What proxies add
  responses_cached:
    'Do not cache what says Cache-Control: no-store. In nginx: take away proxy_ignore_headers and proxy_cache below /auth.',
  request_headers_too_large: 'Accept request headers of 16 KiB. In nginx: large_client_header_buffers 4 16k;',
  response_headers_too_large: 'Accept response headers of 8 KiB. In nginx: proxy_buffer_size 8k;',
  // The installation
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
  webhook_failed: 'Check SVC_WEBHOOK_URL and the receiver: svc webhooks test shows the same.',
  smtp_failed: 'Check SVC_SMTP_URL: svc mail test ADDRESS sends a message.',
} as const satisfies Record<string, string>

export type FindingCode = keyof typeof CURES

export const FINDING_CODES = Object.keys(CURES) as FindingCode[]

/** A finding with the cure of its code, unless there is a better one. */
export const finding = (code: FindingCode, message: string, cure: string = CURES[code]): Finding => ({
  code,
  // Parts of it come from the network, and must not steer the terminal.
  message: message.replace(/\p{Cc}/gu, '�'),
  cure,
})
