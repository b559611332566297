/** Headers as name, value, name, value. For every answer: it is not taken for another type than it says. */
export const COMMON_HEADERS = ['x-content-type-options', 'nosniff']

/**
 * For pages (OWASP HTTP Headers Cheat Sheet). `same-origin` and not `no-referrer`: with that, browsers send
 * `Origin: null` with our own forms.
 */
export const createPageHeaders = (contentSecurityPolicy: string): string[] => [
  ...COMMON_HEADERS,
  ...Object.entries({
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }).flat(),
]
