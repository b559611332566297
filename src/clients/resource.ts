/**
 * Finds a resource among those of the settings, as they spell it. URIs are compared as the URL standard writes them,
 * and therefore with or without the `/` after a bare origin.
 */
export const findResource = (known: readonly string[], text: string): string | undefined => {
  if (!URL.canParse(text) || text.includes('#')) return undefined
  const { href } = new URL(text)
  return known.find((resource) => new URL(resource).href === href)
}
