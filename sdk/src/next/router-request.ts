import type { HeadersLike } from '../request/source.ts'

/**
 * Whether the router of Next.js asks in a page that is open, for a `<Link>` or ahead of one. To the server it looks like
 * any script of the page (`Sec-Fetch-Mode: cors`), and Next.js hides its header `RSC`, but not where the user is.
 */
export const isRouterRequest = (received: HeadersLike): boolean => received.get('next-url') !== null
