import { canonicalAddress } from '../../lib/address.ts'
import { isLoopbackHost, isOwnAddress, isPrivateAddress } from '../../lib/network.ts'
import { isLoopbackUrl } from '../../lib/url.ts'
import type { ProbeAnswer } from '../../lib/probe.ts'
import type { WireAnswer } from './exchange.ts'
import { type Finding, finding } from './findings.ts'

/** What the path of a probe has become on its way. */
export const checkPath = (sent: string, { path: received }: ProbeAnswer): Finding[] => {
  if (received === sent) return []
  const message = `svc received ${received} where ${sent} was sent.`
  if (`/auth${received}` === sent) return [finding('prefix_stripped', message)]
  if (received === `/auth${sent}`) return [finding('prefix_doubled', message)]
  return [finding('path_changed', message)]
}

/** What svc has learnt about where the request came to and from. */
export const checkArrival = (origin: string, seen: ProbeAnswer, answer: WireAnswer): Finding[] => {
  const url = new URL(origin)
  const findings: Finding[] = []
  if (seen.host !== url.host) {
    findings.push(finding('host_lost', `svc received the host ${seen.host ?? '(none)'} and not ${url.host}.`))
  }
  // A proxy that is not trusted may say what it likes: nothing of it counts.
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

/** Whether svc sees the doctor's own end of the connection. */
const isDirect = ({ address, port }: ProbeAnswer, { ends: { localAddress, localPort } }: WireAnswer): boolean =>
  address === canonicalAddress(localAddress) && (port === undefined || port === localPort)

/** Whether an address that is not the doctor's end is none that a router gives to the doctor on the Internet. */
const isOfProxy = (address: string, { ends: { remoteAddress } }: WireAnswer): boolean =>
  address === canonicalAddress(remoteAddress) ||
  isLoopbackHost(address) ||
  isPrivateAddress(address) ||
  isOwnAddress(address)

/** svc itself sends none of these. */
const namesProxy = ({ headers }: WireAnswer): boolean => headers.server !== undefined || headers.via !== undefined
