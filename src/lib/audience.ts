/** Tells whether a text is a valid audience of a token (RFC 7519 section 4.1.3) in this service (CONTRACT.md 3.2). */
export const isAudience = (text: string): boolean => /^[A-Za-z0-9._:/-]{1,128}$/.test(text)

/** Finds the audience of the access token at login: the first of those that are set, or `app`. */
export const loginAudience = (audiences: readonly string[]): string => audiences[0] ?? 'app'

/**
 * Finds a resource of clients among those of the settings, as they spell it. URIs are compared as the URL standard writes them,
 * and therefore with or without the `/` after a bare origin.
 */
export const findResource = (known: readonly string[], text: string): string | undefined => {
  if (!URL.canParse(text) || text.includes('#')) return undefined
  const { href } = new URL(text)
  return known.find((resource) => new URL(resource).href === href)
}
