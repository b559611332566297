import type { IncomingMessage } from 'node:http'
import { AppError } from '../../lib/errors.ts'

/**
 * Refuses what no page of this origin has sent, but for a browser that opens an address. A sibling host is same-site: it
 * sends cookies that are `SameSite=Strict`, and is refused all the same.
 */
export const requireOwnPage = ({ method, headers }: IncomingMessage, origin: string): void => {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, origin: from } = headers
  if (from !== undefined && from !== origin)
    throw foreign(`The header Origin says "${from.slice(0, SHOWN)}"; expected "${origin}".`, 'Origin')
  if (site === 'same-origin') return
  const isRead = method === 'GET' || method === 'HEAD'
  // Browsers from before 2023 say nothing: they can open pages, and change nothing.
  const opensAddress = (mode === 'navigate' && dest === 'document') || (site === undefined && mode === undefined)
  if (isRead && opensAddress) return
  throw foreign(
    `The header Sec-Fetch-Site says "${String(site).slice(0, SHOWN)}"; expected "same-origin".`,
    'Sec-Fetch-Site',
  )
}

const SHOWN = 200

const foreign = (message: string, field: string): AppError =>
  new AppError('forbidden', message, { field, reason: 'foreign' })

/**
 * Tells whether a request names this host alone, exactly. An address in the request line counts in place of the header
 * `Host` (RFC 9112 section 3.2.2), and is not accepted at all. Another name that leads here may be a stranger's (DNS
 * rebinding).
 */
export const isSentTo = ({ rawHeaders, headers, url = '' }: IncomingMessage, host: string): boolean => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  const hosts = names.filter((name) => name.toLowerCase() === 'host')
  return hosts.length === 1 && headers.host === host && url.startsWith('/')
}
