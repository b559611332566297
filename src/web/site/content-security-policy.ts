import type { Branding } from './branding.ts'

/** These parts of the policy depend on external providers. */
export interface ProviderTargets {
  /** Configured icons are http(s) addresses, or paths on this origin. */
  iconUrls: readonly string[]
  /** These are sources for `form-action` in addition to our own origin, such as `https:`. */
  formActions: readonly string[]
}

const OWN_ORIGIN = 'https://own.invalid'

// The host of a URL may contain a semicolon, which would begin another directive.
const SOURCE = /^https?:\/\/[\w.:[\]-]+$/
const FORM_SOURCE = /^(?:https:|https?:\/\/[\w.[\]-]+(?::(?:\d+|\*))?)$/

const originOf = (imageUrl: string): string => {
  const { origin } = new URL(imageUrl, OWN_ORIGIN)
  if (!SOURCE.test(origin)) throw new TypeError(`An image is an http or https address, or a path: ${imageUrl}`)
  return origin === OWN_ORIGIN ? "'self'" : origin
}

/** Lists the sources of images: our own origin, and the origins of logo, icon and the providers' icons. */
const imageSources = (imageUrls: readonly string[]): string =>
  [...new Set(["'self'", ...imageUrls.map(originOf)])].join(' ')

const formSources = (formActions: readonly string[]): string => {
  for (const source of formActions) {
    if (!FORM_SOURCE.test(source)) throw new TypeError(`Not a source for form-action: ${source}`)
  }
  return ["'self'", ...formActions].join(' ')
}

/**
 * The pattern matches a host name in the syntax of CSP (CSP3 section 2.3.1), which allows no address except this one.
 */
const NAMED_HOST = /^(?:127\.0\.0\.1|(?:[a-z\d-]+\.)*[a-z][a-z\d-]*)(?::\d{1,5})?$/i

/**
 * Lists the sources for a folder of ours on the hosts of a page. They have no scheme, so that the scheme of the page or
 * a better one applies. The rest of the origin belongs to the application, which may serve uploads of users. A source
 * with a path needs a host name: on an address, such as `192.0.2.1`, the source is the whole origin.
 */
const sourcesIn = (folder: string, hosts: readonly string[]): string =>
  [...new Set(hosts.map((host) => (NAMED_HOST.test(host) ? `${host}${folder}` : "'self'")))].join(' ')

// Browsers apply form-action to every redirect after a form, not only to the form's address. A button for a provider
// ends on the provider's hosts, and a company's provider redirects to further hosts that svc cannot know. If there are
// providers, the source is therefore `https:`.
/**
 * Creates a function that returns the `Content-Security-Policy` of a page from the hosts on which it may have been
 * opened. Throws a TypeError on an invalid address or source.
 */
export const policyFor = (
  { logoUrl, logoDarkUrl, faviconUrl, passkeys }: Pick<Branding, 'logoUrl' | 'logoDarkUrl' | 'faviconUrl' | 'passkeys'>,
  { iconUrls, formActions }: ProviderTargets,
): ((hosts: readonly string[]) => string) => {
  const rest = [
    `img-src ${imageSources([logoUrl, logoDarkUrl, faviconUrl, ...iconUrls].filter((url) => url !== undefined))}`,
    `form-action ${formSources(formActions)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
  return (hosts) => {
    const assets = sourcesIn('/auth/assets/', hosts)
    // The script of passkeys asks their routes, and nothing else.
    const asks = passkeys ? `connect-src ${sourcesIn('/auth/passkeys/', hosts)}; ` : ''
    return `default-src 'none'; style-src ${assets}; script-src ${assets}; ${asks}${rest}`
  }
}
