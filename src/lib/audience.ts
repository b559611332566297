/** Tells whether a text is a valid audience of a token (RFC 7519 section 4.1.3) in this service (CONTRACT.md 3.2). */
export const isAudience = (text: string): boolean => /^[A-Za-z0-9._:/-]{1,128}$/.test(text)

/** Finds the audience of the access token at login: the first of those that are set, or `app`. */
export const loginAudience = (audiences: readonly string[]): string => audiences[0] ?? 'app'
