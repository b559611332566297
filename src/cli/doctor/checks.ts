import { canonicalAddress } from '../../lib/address.ts'
import { isLoopbackHost, isOwnAddress, isPrivateAddress } from '../../lib/network.ts'
import { isLoopbackUrl } from '../../lib/url.ts'
import type { ProbeAnswer } from '../../lib/probe.ts'
import { randomToken } from '../../lib/secrets.ts'
import { type Finding, finding } from './findings.ts'
import { exchange, type Probed, sendProbe, type Target, type WireAnswer } from './probe.ts'

export const checkPath = (sent: string, { path: received }: ProbeAnswer): Finding[] => {
  if (received === sent) return []
  const message = `svc received ${received} where ${sent} was sent.`
  if (`/auth${received}` === sent) return [finding('prefix_stripped', message)]
  if (received === `/auth${sent}`) return [finding('prefix_doubled', message)]
  return [finding('path_changed', message)]
}

export const checkArrival = (origin: string, seen: ProbeAnswer, answer: WireAnswer): Finding[] => {
  const url = new URL(origin)
  const findings: Finding[] = []
  if (seen.host !== url.host) {
    findings.push(finding('host_lost', `svc received the host ${seen.host ?? '(none)'} and not ${url.host}.`))
  }
  // Nothing that a proxy says counts where it is not trusted.
  if (seen.forwarded.for && !seen.forwarded.trusted) {
    return [...findings, finding('proxy_not_trusted', 'X-Forwarded-For comes from an address that svc does not trust.')]
  }
  return [...findings, ...checkScheme(url, seen), ...checkAddress(url, seen, answer)]
}

const checkScheme = ({ protocol, origin }: URL, { scheme, forwarded, base_url: baseUrl }: ProbeAnswer): Finding[] => {
  if (scheme === 'https') return protocol === 'http:' && baseUrl === origin ? [httpsUnknown(baseUrl)] : []
  if (protocol !== 'https:') return []
  const said = forwarded.proto === null ? 'no X-Forwarded-Proto' : `X-Forwarded-Proto: ${forwarded.proto}`
  return [finding('scheme_lost', `The address is https, and svc received ${said}.`)]
}

/** The service takes the site for http, and refuses the forms of a site that is https. */
const httpsUnknown = (baseUrl: string): Finding =>
  finding(
    'base_url_differs',
    `svc received X-Forwarded-Proto: https, and the service has SVC_BASE_URL ${baseUrl}.`,
    'Set SVC_BASE_URL to the https address that users open. If they do open http, let the proxy send X-Forwarded-Proto: http.',
  )

/** On this machine all addresses are alike, and one that a proxy names is taken for the visitor's. */
const checkAddress = ({ origin, protocol }: URL, seen: ProbeAnswer, answer: WireAnswer): Finding[] => {
  const { forwarded, address } = seen
  if (isLoopbackUrl(origin) || forwarded.for || isDirect(seen, answer)) return []
  const isBehindProxy = protocol === 'https:' || forwarded.host !== null || forwarded.proto !== null
  if (!isBehindProxy && !namesProxy(answer) && !isOfProxy(address, answer)) return []
  return [finding('client_addresses_alike', `svc takes every visitor for ${address}: no X-Forwarded-For arrives.`)]
}

/** Says whether svc sees the doctor's own end of the connection. */
const isDirect = ({ address, port }: ProbeAnswer, { ends: { localAddress, localPort } }: WireAnswer): boolean =>
  address === canonicalAddress(localAddress) && (port === undefined || port === localPort)

/** Says whether an address cannot be one that a router gives to the doctor on the Internet. */
const isOfProxy = (address: string, { ends: { remoteAddress } }: WireAnswer): boolean =>
  address === canonicalAddress(remoteAddress) ||
  isLoopbackHost(address) ||
  isPrivateAddress(address) ||
  isOwnAddress(address)

/** svc itself sends none of these. */
const namesProxy = ({ headers }: WireAnswer): boolean => headers.server !== undefined || headers.via !== undefined

export const checkSentCookies = (sent: string[], { cookies: received }: ProbeAnswer): Finding[] => {
  const missing = sent.filter((name) => !received.includes(name))
  if (missing.length === 0) return []
  const message = `Of the cookies ${sent.join(', ')} svc received ${received.join(', ') || 'none'}.`
  const isRenamed = received.filter((name) => !sent.includes(name)).length >= missing.length
  return [finding(isRenamed ? 'cookies_renamed' : 'cookies_lost', message)]
}

const nameOf = (cookie: string): string => cookie.slice(0, cookie.indexOf('='))

/** The order and case of attributes do not matter, and nor does the value. */
const attributesOf = (cookie: string): string[] =>
  cookie
    .split(';')
    .slice(1)
    .map((attribute) => attribute.trim().toLowerCase())
    .toSorted()

/** Compares the cookies that svc has set in its answer to a probe with those that have arrived. */
export const checkSetCookies = (
  origin: string,
  { set_cookies: written }: ProbeAnswer,
  answer: WireAnswer,
): Finding[] => {
  const received = answer.headers['set-cookie'] ?? []
  const pairs = written.map((cookie) => ({
    cookie,
    arrived: received.find((line) => nameOf(line) === nameOf(cookie)),
  }))
  const lost = pairs.filter(({ arrived }) => arrived === undefined)
  if (lost.length > 0) {
    const message = `Of ${written.length} headers Set-Cookie of svc, ${written.length - lost.length} arrive.`
    return [finding('set_cookie_lost', message)]
  }
  return pairs.flatMap(({ cookie, arrived = '' }) => checkAttributes(origin, cookie, arrived)).slice(0, 1)
}

const checkAttributes = (origin: string, written: string, arrived: string): Finding[] => {
  const [expected, actual] = [attributesOf(written), attributesOf(arrived)]
  if (expected.join(';') === actual.join(';')) return []
  const message = `A cookie of svc arrives with "${actual.join('; ')}" in place of "${expected.join('; ')}".`
  const onlySecureIsLost = expected.filter((attribute) => attribute !== 'secure').join(';') === actual.join(';')
  if (origin.startsWith('https:') && onlySecureIsLost) return [finding('cookies_not_secure', message)]
  return [finding('set_cookie_changed', message)]
}

export const newPath = (): string => `/auth/probe/${randomToken(8)}`

/** The page is for one browser. Proxies may treat pages in another way than the answers to probes. */
const PAGE_PATH = '/auth/login'

/** Checks that no request gets the answer to another one, and that no browser keeps a page. */
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

const checkPage = async (target: Target): Promise<Finding[]> => {
  const page = await exchange(target, PAGE_PATH, { accept: 'text/html' })
  return page.status === 200 && isOfSvc(page) ? checkCacheControl(page, 'its pages') : []
}

/** The application may answer there, and keep its pages as it likes. */
const isOfSvc = ({ headers }: WireAnswer): boolean => /^[0-9a-f]{20}$/.test(String(headers['x-request-id']))

const CURE =
  'Pass Cache-Control of svc on as it is. In nginx: take away expires, and proxy_hide_header Cache-Control, below /auth.'

/** The strictest of several headers and directives counts. */
const checkCacheControl = ({ headers }: WireAnswer, what: string): Finding[] => {
  const arrived = headers['cache-control'] ?? ''
  const directives = arrived.split(',').map((directive) => directive.trim().toLowerCase())
  if (directives.includes('no-store')) return []
  const message = `svc sends Cache-Control: no-store with ${what}, and ${arrived.slice(0, 100) || 'none'} arrives.`
  return [finding('responses_cached', message, CURE)]
}
