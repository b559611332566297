import type { MiddlewareHandler } from 'hono'
import { createGuard, type GuardOptions } from './guard/guard.ts'
import { toResponse } from './guard/refusal-response.ts'
import type { User } from './user.ts'

export { SvcUnavailableError } from './svc-unavailable-error.ts'
export type { GuardOptions } from './guard/guard.ts'
export type { User } from './user.ts'

/** For an application with `app.use(requireUser())`: `new Hono<UserEnv>()` types `c.get('user')`. */
export interface UserEnv {
  Variables: { user: User }
}

/** Lets signed-in users through, as `c.get('user')`. Others go to the login page or get 401; an outage is 503. */
export const requireUser = (options: GuardOptions = {}): MiddlewareHandler<UserEnv> => {
  const guard = createGuard(options)
  return async (c, next) => {
    const { user, refusal } = await guard.requireUser(c.req.raw)
    if (refusal) return toResponse(refusal)
    c.set('user', user)
    return next()
  }
}

/** Lets everybody through; `c.get('user')` is null for a visitor who is not signed in. An outage is 503. */
export const loadUser = (options: GuardOptions = {}): MiddlewareHandler<{ Variables: { user: User | null } }> => {
  const guard = createGuard(options)
  return async (c, next) => {
    const { user, refusal } = await guard.loadUser(c.req.raw)
    if (refusal) return toResponse(refusal)
    c.set('user', user)
    return next()
  }
}
