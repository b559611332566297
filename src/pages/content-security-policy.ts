/** What the pages must know of external providers. */
export interface ProviderTargets {
  /** As configured: http(s) addresses, or paths on this origin. */
  iconUrls: readonly string[]
  /** Sources for `form-action` besides our own origin, such as `https:`. */
  formActions: readonly string[]
}

const OWN_ORIGIN = 'https://own.invalid'

// A URL's host may hold a semicolon, which would begin another directive.
const SOURCE = /^https?:\/\/[\w.:[\]-]+$/
const FORM_SOURCE = /^(?:https:|https?:\/\/[\w.[\]-]+(?::(?:\d+|\*))?)$/

const originOf = (imageUrl: string): string => {
  const { origin } = new URL(imageUrl, OWN_ORIGIN)
  if (!SOURCE.test(origin)) throw new TypeError(`An image is an http or https address, or a path: ${imageUrl}`)
  return origin === OWN_ORIGIN ? "'self'" : origin
}

/** Where images come from: our own origin, and those of the logo and of providers' icons that are elsewhere. */
const imageSources = (imageUrls: readonly string[]): string =>
  [...new Set(["'self'", ...imageUrls.map(originOf)])].join(' ')

const formSources = (formActions: readonly string[]): string => {
  for (const source of formActions) {
    if (!FORM_SOURCE.test(source)) throw new TypeError(`Not a source for form-action: ${source}`)
  }
  return ["'self'", ...formActions].join(' ')
}

/** A name as CSP knows hosts (CSP3 section 2.3.1). It has no addresses, but for this one. */
const NAMED_HOST = /^(?:127\.0\.0\.1|(?:[a-z\d-]+\.)*[a-z][a-z\d-]*)(?::\d{1,5})?$/i

/**
 * The folder of our assets under the hosts of a page, without a scheme, which is that of the page or better. The rest of
 * the origin belongs to the application, which may hold what people have uploaded. A source with a path needs a name:
 * under an address, such as `192.0.2.1`, it is the whole origin.
 */
const assetSources = (hosts: readonly string[]): string =>
  [...new Set(hosts.map((host) => (NAMED_HOST.test(host) ? `${host}/auth/assets/` : "'self'")))].join(' ')

// Browsers apply form-action to every redirect that follows a form, not to its own address alone. A button that leads
// to a provider ends on the provider's hosts, and a company's provider sends on to others that nobody here can know:
// where there are providers, it is `https:` as a whole.
/**
 * Makes the `Content-Security-Policy` of a page from the hosts under which it may have been opened. TypeError on an
 * address or a source that does not belong there.
 */
export const policyFor = (
  logoUrl: string | undefined,
  { iconUrls, formActions }: ProviderTargets,
): ((hosts: readonly string[]) => string) => {
  const rest = [
    `img-src ${imageSources([...(logoUrl === undefined ? [] : [logoUrl]), ...iconUrls])}`,
    `form-action ${formSources(formActions)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
  return (hosts) => {
    const assets = assetSources(hosts)
    return `default-src 'none'; style-src ${assets}; script-src ${assets}; ${rest}`
  }
}
