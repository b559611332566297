/** The address of the document about a resource: its well-known part stands in front of the path (RFC 9728 section 3.1). */
export const metadataAddressOf = ({ origin, pathname, search }: URL): URL =>
  new URL(`/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`, origin)
