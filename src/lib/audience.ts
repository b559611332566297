/** What the name of a token's audience (RFC 7519 section 4.1.3) may look like here. */
export const isAudience = (text: string): boolean => /^[A-Za-z0-9._:/-]{1,128}$/.test(text)
