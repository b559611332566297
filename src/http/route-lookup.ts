import { methodsOf, type Route } from './route.ts'

/** Finds the route of a method and a path, which are compared to the letter; undefined where the table has none. */
export const createRouteLookup = (routes: readonly Route[]) => {
  const byPath = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, Route>()
    for (const method of methodsOf(route)) byMethod.set(method, route)
    byPath.set(route.path, byMethod)
  }
  return (method: string, path: string): Route | undefined => byPath.get(path)?.get(method)
}
