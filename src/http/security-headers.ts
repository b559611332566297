/** The items are name, value, name, value. */
type Headers = readonly string[]

/** These headers differ by response kind: a page is shown, data are read by programs, an asset is part of a page. */
export interface SecurityHeaders {
  data: Headers
  asset: Headers
  /**
   * `hosts` are as in the header `Host`: the page may have been opened under these, besides the host of the base URL.
   * `holdsToken` says that the address of the page is a secret.
   */
  page: (hosts: readonly string[], holdsToken?: boolean) => Headers
  /** This goes with a page, unless a client has opened its window, and waits for what becomes of it. */
  ownWindow: Headers
}

interface SecurityHeadersDeps {
  baseUrl: string
  /** Browsers use https only on this host for this long (RFC 6797). If it is undefined, the proxy decides. */
  hstsMs: number | undefined
  contentSecurityPolicy: (hosts: readonly string[]) => string
}

/** Makes the security headers of every response (OWASP HTTP Headers Cheat Sheet). */
export const createSecurityHeaders = ({
  baseUrl,
  hstsMs,
  contentSecurityPolicy,
}: SecurityHeadersDeps): SecurityHeaders => {
  const all = [
    ...Object.entries({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' }).flat(),
    ...(hstsMs === undefined ? [] : ['strict-transport-security', `max-age=${Math.ceil(hstsMs / 1000)}`]),
  ]
  const baseHost = new URL(baseUrl).host
  const pageUnder = (hosts: readonly string[], referrerPolicy: string): Headers => [
    ...all,
    'content-security-policy',
    contentSecurityPolicy([baseHost, ...hosts]),
    ...PAGE,
    'referrer-policy',
    referrerPolicy,
  ]
  const ofBaseHost = pageUnder([], SAME_ORIGIN)
  return {
    data: [...all, 'content-security-policy', DATA_POLICY],
    asset: [...all, 'content-security-policy', ASSET_POLICY],
    ownWindow: OWN_WINDOW,
    page(hosts, holdsToken = false) {
      const others = hosts.filter((host) => host !== baseHost)
      if (holdsToken) return pageUnder(others, STRICT_ORIGIN)
      return others.length === 0 ? ofBaseHost : pageUnder(others, SAME_ORIGIN)
    },
  }
}

const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** A drawing that is opened by itself is a document: it may have its colours, and nothing else. */
const ASSET_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

const PAGE: Headers = Object.entries({
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
}).flat()

const OWN_WINDOW: Headers = ['cross-origin-opener-policy', 'same-origin']

/** This is not `no-referrer`, with which browsers send `Origin: null` with our own forms. */
const SAME_ORIGIN = 'same-origin'

/** The `Referer` has no path and no query then, even for our own pages, and `Origin` stays what it is. */
const STRICT_ORIGIN = 'strict-origin'
