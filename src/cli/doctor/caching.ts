import { randomToken } from '../../lib/secrets.ts'
import { exchange, type WireAnswer } from './exchange.ts'
import { type Finding, finding } from './findings.ts'
import { type Probed, sendProbe, type Target } from './probe.ts'

/** No cache has a response for it yet. */
export const newPath = (): string => `/auth/probe/${randomToken(8)}`

/** A page that holds what is for one browser. Proxies may treat pages in another way than the answers to probes. */
const PAGE_PATH = '/auth/login'

/** Whether a request can get the answer to another one, or a browser can keep a page. */
export const checkCaching = async (target: Target, { aheadMs = 0, isOld, answer }: Probed): Promise<Finding[]> => {
  const path = newPath()
  const first = await sendProbe(target, { path, aheadMs })
  const second = await sendProbe(target, { path, aheadMs })
  if (isOld || second.isOld) {
    return [finding('responses_cached', 'A request got the answer that svc gave to another one.')]
  }
  const probed = first.seen ? [answer, first.answer] : [answer]
  const findings = probed.flatMap((each) => checkCacheControl(each, 'its answers'))
  return findings.length > 0 ? findings.slice(0, 1) : checkPage(target)
}

const checkPage = async ({ origin, ca }: Target): Promise<Finding[]> => {
  const page = await exchange({ origin, path: PAGE_PATH, headers: { accept: 'text/html' }, ca })
  return page.status === 200 && isOfSvc(page) ? checkCacheControl(page, 'its pages') : []
}

/** The application may answer there, and keep its pages as it likes. */
const isOfSvc = ({ headers }: WireAnswer): boolean => /^[0-9a-f]{20}$/.test(String(headers['x-request-id']))

const CURE =
  'Pass Cache-Control of svc on as it is. In nginx: take away expires, and proxy_hide_header Cache-Control, below /auth.'

/** Of several headers, and of several directives, the strictest counts. */
const checkCacheControl = ({ headers }: WireAnswer, what: string): Finding[] => {
  const arrived = headers['cache-control'] ?? ''
  const directives = arrived.split(',').map((directive) => directive.trim().toLowerCase())
  if (directives.includes('no-store')) return []
  const message = `svc sends Cache-Control: no-store with ${what}, and ${arrived.slice(0, 100) || 'none'} arrives.`
  return [finding('responses_cached', message, CURE)]
}
