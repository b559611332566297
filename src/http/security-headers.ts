/** For every answer: none is kept by a cache unless it says so itself, or taken for another type than it is. */
export const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/**
 * For pages (OWASP HTTP Headers Cheat Sheet). `same-origin` and not `no-referrer`: with that, browsers send
 * `Origin: null` with our own forms.
 */
export const createPageHeaders = (contentSecurityPolicy: string): Record<string, string> => ({
  ...COMMON_HEADERS,
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
})
