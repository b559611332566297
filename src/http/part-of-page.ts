import type { IncomingHttpHeaders } from 'node:http'
import type { Route } from './route.ts'

/**
 * For a link, the router of Next.js fetches a page in parts (header `RSC`). The pages here have none, and an empty answer
 * has the browser load the page instead. After a redirect back to where the user came from, the router would show nothing:
 * it believes that it has that page.
 */
export const wantsPartOfPage = ({ responseKind }: Route, { rsc }: IncomingHttpHeaders): boolean =>
  responseKind === 'html' && rsc !== undefined
