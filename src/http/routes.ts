import { createApiRoutes } from './api/routes.ts'
import { refTo } from './api/schemas.ts'
import { createBrowserRoutes } from './browser/routes.ts'
import type { RouteDeps } from './deps.ts'
import { createOpenApi } from './openapi.ts'
import { json } from './request-context.ts'
import type { Route } from './route.ts'

/** THE table of routes. What is not in it is 404, to the letter of the path. */
export const createRoutes = (deps: RouteDeps): Route[] => {
  const routes = [...createBrowserRoutes(deps), ...createApiRoutes(deps)]
  let document: string | undefined
  routes.push({
    method: 'GET',
    path: '/auth/api/v1/openapi.json',
    guard: 'none',
    speaks: 'json',
    documentation: {
      operationId: 'getOpenApi',
      summary: 'This document',
      tag: 'Operation',
      responses: { 200: { description: 'OpenAPI 3.1', schema: refTo('OpenApiDocument') } },
    },
    answer() {
      document ??= createOpenApi(routes, deps)
      return json(200, document)
    },
  })
  return routes
}
