import type { IncomingHttpHeaders } from 'node:http'
import { canonicalAddress } from '../../lib/address.ts'
import type { Log } from '../../lib/log.ts'
import { isLoopbackUrl } from '../../lib/origin.ts'

interface ProxyCheckDeps {
  baseUrl: string
  /** Whether the base URL was set, and is no default. */
  isBaseUrlSet: boolean
  isTrustedProxy: (address: string) => boolean
  log: Log
}

/** What is looked at of a request. */
interface Arrival {
  headers: IncomingHttpHeaders
  url?: string | undefined
  socket: { remoteAddress?: string | undefined }
}

/** More of what a sender wrote is not worth a place in the log. */
const MAX_LOGGED = 255

/**
 * Looks at requests for settings that do not fit the proxy in front, and tells of each mistake once. What has been told,
 * or cannot happen, is not looked for: then a call costs nothing.
 */
export const createProxyCheck = ({ baseUrl, isBaseUrlSet, isTrustedProxy, log }: ProxyCheckDeps) => {
  const isOwnHost = createHostCheck(baseUrl)
  let checksPeer = true
  let checksOrigin = !isBaseUrlSet
  let latestProxy: string | undefined
  let latestOwnHost: string | undefined

  /** The same proxy sends one request after another. */
  const isFromProxy = ({ socket: { remoteAddress = '' } }: Arrival): boolean => {
    if (remoteAddress === latestProxy) return true
    const isProxy = isTrustedProxy(remoteAddress)
    if (isProxy) latestProxy = remoteAddress
    return isProxy
  }

  const checkPeer = (arrival: Arrival): void => {
    if (isFromProxy(arrival)) return
    checksPeer = false
    log.warn(
      { setting: 'SVC_TRUST_PROXY', peer: canonicalAddress(arrival.socket.remoteAddress ?? '') },
      UNTRUSTED_PROXY,
    )
  }

  const checkOrigin = (arrival: Arrival): void => {
    const { host, 'x-forwarded-proto': forwardedProto, 'x-forwarded-host': forwardedTo } = arrival.headers
    // The usual request costs a comparison: URLs are parsed for a host that has not been looked at.
    const isDirect = forwardedProto === undefined && forwardedTo === undefined
    if (isDirect && host === latestOwnHost) return
    const [proto, forwardedHost] = isFromProxy(arrival) ? forwardedOf(arrival.headers) : []
    const shownHost = forwardedHost ?? host
    const differs = proto === 'https' || (shownHost !== undefined && !isOwnHost(shownHost))
    if (isDirect && !differs) latestOwnHost = host
    if (!differs || isProbe(arrival.url)) return
    checksOrigin = false
    const facts = { base_url: baseUrl, host: shownHost?.slice(0, MAX_LOGGED), forwarded_proto: proto }
    log.warn({ setting: 'SVC_BASE_URL', ...facts }, OTHER_ORIGIN)
  }

  return (arrival: Arrival): void => {
    const { headers } = arrival
    if (checksPeer && headers['x-forwarded-for'] !== undefined) checkPeer(arrival)
    if (checksOrigin) checkOrigin(arrival)
  }
}

const UNTRUSTED_PROXY =
  'X-Forwarded-For came from an address that is not trusted, and is ignored: if it is your proxy, name it in ' +
  'SVC_TRUST_PROXY, else all visitors share one address'

const OTHER_ORIGIN =
  'requests come for another origin than SVC_BASE_URL, which was not set: set it to the public origin of the site'

/** What the nearest proxy says that it was asked for: scheme and host. */
const forwardedOf = (headers: IncomingHttpHeaders): (string | undefined)[] =>
  [headers['x-forwarded-proto'], headers['x-forwarded-host']].map(
    (value) =>
      String(value ?? '')
        .split(',')
        .at(-1)
        ?.trim() || undefined,
  )

/** Whether a `Host` is the one of the base URL, all names of this machine being one. */
const createHostCheck = (baseUrl: string) => {
  const { host: own, port } = new URL(baseUrl)
  return (host: string): boolean => {
    const url = `http://${host}`
    return host === own || (isLoopbackUrl(url) && new URL(url).port === port)
  }
}

/** A balancer asks for health under an address of its own. */
const isProbe = (url = ''): boolean => /^\/auth\/(?:health|ready)(?:$|\?)/.test(url)
