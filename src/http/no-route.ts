import { AppError } from '../lib/errors.ts'
import { statusOf } from './errors.ts'
import { type Destination, methodsOf, type Route } from './route.ts'
import type { RouteLookup } from './route-lookup.ts'

/** This says why there is no route for a request, and how it is answered. */
interface Refusal {
  to: Destination
  status: number
  error: AppError
  /** The items are name and value. */
  headers: string[]
  /** The log gets these: a path that is not in the table, and the one that was probably meant. */
  facts?: { path: string; hint?: string }
}

/** Answers requests for which the table has no row. */
export interface NoRoute {
  /** Gives the value of `Allow`. It is undefined for a path that is not in the table. */
  allowAt: (path: string) => string | undefined
  /** Answers 405 for a path that is in the table, else 404; a request target that is no path gets 400. */
  refuse: (method: string, path: string) => Refusal
}

export const createNoRoute = ({ at }: Pick<RouteLookup, 'at'>): NoRoute => {
  const isThere = (path: string): boolean => at(path).length > 0

  const allowAt = (path: string): string | undefined => {
    const methods = new Set(at(path).flatMap(methodsOf))
    return methods.size === 0 ? undefined : [...methods].join(', ')
  }

  const hintFor = (path: string): string | undefined => {
    if (path !== '/' && isThere(`/auth${path}`)) {
      return `Was /auth${path} meant? The proxy takes /auth away: it must pass the path as it came.`
    }
    const single = path.replace(/^\/auth(?=\/)/, '')
    if (single === path || !isThere(single)) return undefined
    return `Was ${single} meant? The proxy adds a second /auth: it must pass the path as it came.`
  }

  const destinationOf = (path: string): Destination => {
    const rows = at(path)
    const isJson = rows.length > 0 ? rows.some(isForPrograms) : API.test(path)
    // The row that answers browsers of other origins comes last, and says nothing of the others.
    const isOAuth = rows[0]?.responseKind === 'oauth'
    const holdsToken = rows.some((route) => route.responseKind === 'html' && route.holdsToken)
    const anyOrigin = rows.some((route) => route.anyOrigin)
    return { path: rows[0]?.path, responseKind: isOAuth ? 'oauth' : isJson ? 'json' : 'html', holdsToken, anyOrigin }
  }

  return {
    allowAt,
    refuse(method, path) {
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

const isForPrograms = ({ responseKind }: Route): boolean => responseKind === 'json' || responseKind === 'check'

/** Errors are JSON here: no browser opens these paths. */
const API = /^\/auth\/(?:api|\.well-known)\//

const missing = (path: string): AppError =>
  path.startsWith('/') || path === '*'
    ? new AppError('not_found', 'There is nothing here.')
    : new AppError('invalid_request', 'The request target must be a path, or an http or https URL without a user.')

const MAX_PATH_LENGTH = 200
/** Tokens are as long as this, and no path segment of ours is. */
const SECRET = /[^/]{32,}/g

/** Shows a path in the log, and removes everything that could be a secret. */
const shownPath = (path: string): string => path.replace(SECRET, '…').slice(0, MAX_PATH_LENGTH)
