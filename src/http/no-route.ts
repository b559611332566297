import { AppError } from '../lib/errors.ts'
import { statusOf } from './errors.ts'
import { type Destination, methodsOf, type Route } from './route.ts'

/** Why no route answers a request, and how to say so. */
export interface Refusal {
  to: Destination
  status: number
  error: AppError
  /** Name, value. */
  headers: string[]
  /** For the log, of what is not in the table: the path that was asked for, and which one was probably meant. */
  facts?: { path: string; hint?: string }
}

/** What the table of routes says about requests that none of its rows answers. */
export const createNoRoute = (routes: readonly Route[]) => {
  const byPath = Map.groupBy(routes, ({ path }): string => path)

  /** The value of `Allow`; undefined for a path that is not in the table. */
  const allowAt = (path: string): string | undefined => {
    const methods = byPath.get(path)?.flatMap(methodsOf)
    return methods && [...new Set(methods)].join(', ')
  }

  const hintFor = (path: string): string | undefined => {
    if (byPath.has(`/auth${path}`)) {
      return `Was /auth${path} meant? The proxy takes /auth away: it must pass the path as it came.`
    }
    const single = path.replace(/^\/auth(?=\/)/, '')
    if (single === path || !byPath.has(single)) return undefined
    return `Was ${single} meant? The proxy adds a second /auth: it must pass the path as it came.`
  }

  const destinationOf = (path: string): Destination => {
    const isJson = byPath.get(path)?.some(({ responseKind }) => responseKind === 'json') ?? API.test(path)
    return { path: byPath.has(path) ? path : undefined, responseKind: isJson ? 'json' : 'html' }
  }

  return {
    allowAt,
    destinationOf,
    refuse(method: string, path: string): Refusal {
      const to = destinationOf(path)
      const allow = allowAt(path)
      if (allow !== undefined) {
        const message = `The method ${method} is not allowed here; allowed: ${allow}.`
        return { to, status: 405, error: new AppError('method_not_allowed', message), headers: ['allow', allow] }
      }
      const hint = hintFor(path)
      const error = missing(path)
      const facts = { path: shownPath(path), ...(hint && { hint }) }
      return { to, status: statusOf(error.code), error, headers: [], facts }
    },
  }
}

export type NoRoute = ReturnType<typeof createNoRoute>

/** Only programs ask here. */
const API = /^\/auth\/(?:api|\.well-known)\//

const missing = (path: string): AppError =>
  path.startsWith('/') || path === '*'
    ? new AppError('not_found', 'There is nothing here.')
    : new AppError('invalid_request', 'The request target must be a path, or an http or https URL without a user.')

const MAX_PATH_LENGTH = 200
/** As long as a token may be, or a part of one; no path of ours has as much between two slashes. */
const SECRET = /[^/]{32,}/g

/** A path for the log, without what could be a secret in it. */
const shownPath = (path: string): string => path.replace(SECRET, '…').slice(0, MAX_PATH_LENGTH)
