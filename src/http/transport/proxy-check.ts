import type { IncomingHttpHeaders } from 'node:http'
import { canonicalAddress, UNKNOWN_NETWORK } from '../../lib/address.ts'
import type { Log } from '../../lib/log.ts'
import { isLoopbackUrl } from '../../lib/url.ts'
import { monotonicClock } from '../../lib/time.ts'
import { clientAddress, clientNetwork, lastOf } from './client-address.ts'
import { createSharedAddressCheck } from './shared-address.ts'

interface ProxyCheckDeps {
  baseUrl: string
  /** This tells whether the base URL was set, and is no default. */
  isBaseUrlSet: boolean
  isTrustedProxy: (address: string) => boolean
  log: Log
}

/** These parts of a request are checked. */
interface RequestHead {
  headers: IncomingHttpHeaders
  method?: string | undefined
  url?: string | undefined
  socket: { remoteAddress?: string | undefined }
}

/** This bounds how much of a client's header goes to the log. */
const MAX_LOGGED = 255

/**
 * Notices settings that do not fit the proxy in front, and warns about each of them once. A check is skipped if its
 * warning was given, or if it cannot fail: it must cost next to nothing for every request.
 */
export const createProxyCheck = ({ baseUrl, isBaseUrlSet, isTrustedProxy, log }: ProxyCheckDeps) => {
  const isSharedAddress = createSharedAddressCheck({ baseUrl, clock: monotonicClock })
  const isOwnHost = createHostCheck(baseUrl)
  let checksPeer = true
  let checksOrigin = !isBaseUrlSet
  let checksClient = true
  let warnsOfUnknown = true
  let latestProxy: string | undefined
  let latestOwnHost: string | undefined
  let latestHost: { name: string; isLoopback: boolean } | undefined

  /** Remembers the latest host, since most requests are for the same one. */
  const isLoopback = (name: string): boolean => {
    if (latestHost?.name !== name) latestHost = { name, isLoopback: isLoopbackUrl(`http://${name}`) }
    return latestHost.isLoopback
  }

  /** Remembers the latest proxy, since most requests come from the same one. */
  const isFromProxy = ({ socket: { remoteAddress = '' } }: RequestHead): boolean => {
    if (remoteAddress === latestProxy) return true
    const isProxy = isTrustedProxy(remoteAddress)
    if (isProxy) latestProxy = remoteAddress
    return isProxy
  }

  const checkPeer = (request: RequestHead): void => {
    if (isFromProxy(request)) return
    checksPeer = false
    log.warn(
      { setting: 'SVC_TRUST_PROXY', peer: canonicalAddress(request.socket.remoteAddress ?? '') },
      UNTRUSTED_PROXY,
    )
  }

  const checkOrigin = (request: RequestHead): void => {
    const { host, 'x-forwarded-proto': forwardedProto, 'x-forwarded-host': forwardedTo } = request.headers
    // The usual request costs one comparison: URLs are parsed only for a host that has not been checked.
    const isDirect = forwardedProto === undefined && forwardedTo === undefined
    if (isDirect && host === latestOwnHost) return
    const [proto, forwardedHost] = isFromProxy(request) ? forwardedOf(request.headers) : []
    const shownHost = forwardedHost ?? host
    const differs = proto === 'https' || (shownHost !== undefined && !isOwnHost(shownHost))
    if (isDirect && !differs) latestOwnHost = host
    if (!differs || isProbe(request.url)) return
    checksOrigin = false
    const facts = { base_url: baseUrl, host: shownHost?.slice(0, MAX_LOGGED), forwarded_proto: proto }
    log.warn({ setting: 'SVC_BASE_URL', ...facts }, OTHER_ORIGIN)
  }

  /** Checks only requests of forms, which are counted: a monitor on this machine looks at other things. */
  const checkClient = ({ headers, url, socket: { remoteAddress = '' } }: RequestHead): void => {
    const { host, 'x-forwarded-for': forwardedFor, 'user-agent': userAgent } = headers
    if (host === undefined || isLoopback(host)) return
    const client = clientAddress(remoteAddress, forwardedFor, isTrustedProxy)
    const factsOf = () => ({ client, forwarded_for: forwardedFor && String(forwardedFor).slice(0, MAX_LOGGED) })
    if (clientNetwork(client, isTrustedProxy) === UNKNOWN_NETWORK) {
      if (warnsOfUnknown) log.warn({ setting: 'SVC_TRUST_PROXY', ...factsOf() }, UNKNOWN_CLIENT)
      warnsOfUnknown = false
    } else if (!isOfProgram(url) && isSharedAddress(client, userAgent)) {
      checksClient = false
      log.warn({ setting: 'SVC_TRUST_PROXY', ...factsOf() }, SHARED_CLIENT)
    }
  }

  return (request: RequestHead): void => {
    const { headers, method } = request
    if (checksClient && method === 'POST') checkClient(request)
    if (checksPeer && headers['x-forwarded-for'] !== undefined) checkPeer(request)
    if (checksOrigin) checkOrigin(request)
  }
}

const UNTRUSTED_PROXY =
  'X-Forwarded-For came from an address that is not trusted, and is ignored: if it is your proxy, name it in ' +
  'SVC_TRUST_PROXY, else all visitors share one address'

const UNKNOWN_CLIENT =
  'a visitor came from an address that is no visitor: all of these share one limit. Let the proxy name each visitor in ' +
  'X-Forwarded-For, and name no addresses of visitors in SVC_TRUST_PROXY'

const SHARED_CLIENT =
  'the forms of several browsers all came from one address, which is private or of this machine: if it is a proxy, all ' +
  'visitors share one limit. Let it name each visitor in X-Forwarded-For, and name it in SVC_TRUST_PROXY'

const OTHER_ORIGIN =
  'requests come for another origin than SVC_BASE_URL, which was not set: set it to the public origin of the site'

/** Finds the scheme and host of the original request, according to the nearest proxy. */
const forwardedOf = (headers: IncomingHttpHeaders): (string | undefined)[] =>
  [headers['x-forwarded-proto'], headers['x-forwarded-host']].map(lastOf)

/** Tells whether a `Host` is that of the base URL; all loopback names count as one. */
const createHostCheck = (baseUrl: string) => {
  const { host: own, port } = new URL(baseUrl)
  return (host: string): boolean => {
    const url = `http://${host}`
    return host === own || (isLoopbackUrl(url) && new URL(url).port === port)
  }
}

/** A load balancer probes health under an address of its own, which is no mistake. */
const isProbe = (url = ''): boolean => /^\/auth\/(?:health|ready)(?:$|\?)/.test(url)

/** The application's backend sends it, or a proxy that asks about a visitor: they come from one address anyway. */
const isOfProgram = (url = ''): boolean => /^\/auth\/(?:api\/|check(?:$|\?))/.test(url)
