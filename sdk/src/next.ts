export type { GuardOptions } from './guard/guard.ts'
export { authProxy, type ProxyRequest } from './next/auth-proxy.ts'
export { getUser, type GetUserOptions } from './next/get-user.ts'
export {
  type RequireUserOptions,
  type RouteHandler,
  requireUser,
  type UserRouteHandler,
} from './next/require-user.ts'
export { SvcUnavailableError } from './svc-unavailable-error.ts'
export type { User } from './user.ts'
