import { methodsOf, type Route } from './route.ts'

/** Finds rows of the table. Paths are compared to the letter, except for the segments that are `{name}`. */
export interface RouteLookup {
  /** Finds the row of a method and a path. It is undefined if the table has none. */
  find: (method: string, path: string) => Route | undefined
  /** Finds all rows of a path, one for each method. */
  at: (path: string) => readonly Route[]
}

export const createRouteLookup = (routes: readonly Route[]): RouteLookup => {
  const byPath = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, Route>()
    for (const method of [route.method, ...methodsOf(route)]) byMethod.set(method, route)
    byPath.set(route.path, byMethod)
  }
  const prefixes = [...new Set(routes.filter(({ isPrefix }) => isPrefix).map(({ path }) => path))]
  const templates = [...byPath.keys()].filter((path) => path.includes('{'))

  const methodsAt = (path: string): Map<string, Route> | undefined => {
    const exact = byPath.get(path)
    if (exact) return exact
    const wider =
      prefixes.find((one) => path.startsWith(one) && path[one.length] === '/') ??
      templates.find((template) => readParameters(template, path))
    return wider === undefined ? undefined : byPath.get(wider)
  }

  return {
    find(method, path) {
      const byMethod = methodsAt(path)
      return byMethod?.get(method) ?? byMethod?.get(ANY)
    },
    at: (path) => [...new Set(methodsAt(path)?.values())],
  }
}

const ANY: Route['method'] = 'ANY'

/** Reads the segments of a path for which a template has `{name}`. It is undefined for a path that does not fit. */
export const readParameters = (template: string, path: string): Record<string, string> | undefined => {
  const expected = template.split('/')
  const segments = path.split('/')
  if (segments.length !== expected.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const [, name] = /^\{(\w+)\}$/.exec(expected[index] ?? '') ?? []
    if (name !== undefined && segment !== '') parameters[name] = segment
    else if (segment !== expected[index]) return undefined
  }
  return parameters
}
