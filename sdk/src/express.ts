import { createGuard, type Guard, type GuardOptions } from './guard/guard.ts'
import type { HeaderRecord } from './request/source.ts'
import type { User as SvcUser } from './user.ts'

export { SvcUnavailableError } from './svc-unavailable-error.ts'
export { userOf } from './guard/user-of.ts'
export type { GuardOptions } from './guard/guard.ts'
export type { User } from './user.ts'

declare global {
  // Express has its types here; those of other packages for `req.user` say the same, so that both can be installed.
  namespace Express {
    interface User extends SvcUser {}
    interface Request {
      user?: User | undefined
    }
  }
}

/** What the middleware needs of a request: Express, and Node alone, have it. */
export interface MiddlewareRequest {
  headers: HeaderRecord
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string | undefined
  user?: SvcUser | undefined
}

/** What the middleware needs of a response. */
export interface MiddlewareResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

/** A middleware of Express 4 and 5. */
export type Middleware = (
  request: MiddlewareRequest,
  response: MiddlewareResponse,
  next: (error?: unknown) => void,
) => Promise<void>

const createMiddleware =
  (admit: Guard['loadUser']): Middleware =>
  async (request, response, next) => {
    try {
      const { user, refusal } = await admit(request)
      if (refusal) {
        response.writeHead(refusal.status, refusal.headers)
        response.end(refusal.body)
        return
      }
      if (user) request.user = user
    } catch (error) {
      next(error)
      return
    }
    // Not inside the `try`: what the application throws is not an error of this middleware.
    next()
  }

/** Lets signed-in users through, as `req.user`. Others go to the login page or get 401; an outage is 503. */
export const requireUser = (options: GuardOptions = {}): Middleware =>
  createMiddleware(createGuard(options).requireUser)

/** Lets everybody through, with `req.user` for a signed-in user. An outage is 503. */
export const loadUser = (options: GuardOptions = {}): Middleware => createMiddleware(createGuard(options).loadUser)
