import type { onRequestAsyncHookHandler } from 'fastify'
import { createGuard, type Guard, type GuardOptions } from './guard/guard.ts'
import type { User } from './user.ts'

export { SvcUnavailableError } from './svc-unavailable-error.ts'
export { userOf } from './guard/user-of.ts'
export type { GuardOptions } from './guard/guard.ts'
export type { User } from './user.ts'

declare module 'fastify' {
  interface FastifyRequest {
    user?: User | undefined
  }
}

const createHook =
  (admit: Guard['loadUser']): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const { user, refusal } = await admit(request)
    if (refusal) return reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
    if (user) request.user = user
    return undefined
  }

/**
 * A hook `onRequest`, for a route or a scope. Lets signed-in users through, as `request.user`. Others go to the login
 * page or get 401; an outage is 503.
 */
export const requireUser = (options: GuardOptions = {}): onRequestAsyncHookHandler =>
  createHook(createGuard(options).requireUser)

/** A hook `onRequest` that lets everybody through, with `request.user` for a signed-in user. An outage is 503. */
export const loadUser = (options: GuardOptions = {}): onRequestAsyncHookHandler =>
  createHook(createGuard(options).loadUser)
