import { readParameters } from '../../http/route-lookup.ts'
import type { AdminRoute } from './context.ts'

export interface Found {
  route: AdminRoute | undefined
  parameters: Record<string, string>
  /** The path answers these methods; it is undefined for a path that is in no row. */
  allow: string | undefined
}

const METHODS: Record<AdminRoute['method'], readonly string[]> = {
  GET: ['GET', 'HEAD'],
  FORM: ['GET', 'HEAD', 'POST'],
  POST: ['POST'],
}

/** Finds rows of the table by method and path, to the letter but for the segments that are `{name}`. */
export const createRowLookup = (routes: readonly AdminRoute[]): ((method: string, path: string) => Found) => {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const templates = [...byPath.keys()].filter((path) => path.includes('{'))

  const rowsAt = (path: string): { rows: readonly AdminRoute[]; parameters: Record<string, string> } => {
    const exact = byPath.get(path as AdminRoute['path'])
    if (exact) return { rows: exact, parameters: {} }
    for (const template of templates) {
      const parameters = readParameters(template, path)
      if (parameters) return { rows: byPath.get(template) ?? [], parameters }
    }
    return { rows: [], parameters: {} }
  }

  return (method, path) => {
    const { rows, parameters } = rowsAt(path)
    const allow = rows.length > 0 ? [...new Set(rows.flatMap((row) => METHODS[row.method]))].join(', ') : undefined
    return { route: rows.find((row) => METHODS[row.method].includes(method)), parameters, allow }
  }
}
