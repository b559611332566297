/** RFC 3986 section 3.1, in lower case. */
const SCHEME = /^[a-z][a-z0-9+.-]{0,62}$/

/** Browsers handle these themselves: a redirect to one could run code on the page that it comes from, or open a file. */
const BROWSER_SCHEMES = new Set(
  (
    'http https ws wss ftp javascript data file vbscript blob about view-source intent filesystem chrome ' +
    'chrome-extension moz-extension edge resource content jar mailto tel sms'
  ).split(' '),
)

/** Tells whether a scheme, without colon, may belong to a native application (RFC 8252 section 7.1). */
export const isPrivateUseScheme = (scheme: string): boolean =>
  SCHEME.test(scheme) && !BROWSER_SCHEMES.has(scheme) && !scheme.startsWith('web+')
