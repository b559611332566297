import type { PageDeps, RouteDeps } from '../../http/deps.ts'

/** What handlers of pages are given, once the pages are loaded. */
export const withPages = async <T extends RouteDeps>(deps: T): Promise<T & PageDeps> => ({
  ...deps,
  pages: await deps.loadPages(),
})
