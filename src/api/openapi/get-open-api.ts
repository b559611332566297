import type { RouteDeps } from '../../http/deps.ts'
import type { ApiVersion } from './openapi.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation, Route } from '../../http/route.ts'
import { refTo } from '../schemas.ts'

interface GetOpenApiDeps extends Pick<RouteDeps, 'baseUrl' | 'cookieTable'> {
  version: ApiVersion
  /** A function, since the route of this handler is itself in the table. */
  listRoutes: () => readonly Route[]
}

/** `GET /auth/api/v1/openapi.json`, and that of the server API */
export const createGetOpenApi = ({ listRoutes, ...deps }: GetOpenApiDeps) => {
  let document: string | undefined
  return {
    documentation: {
      operationId: 'getOpenApi',
      summary: 'This document',
      tag: 'Operation',
      responses: { 200: { description: 'OpenAPI 3.1', schema: refTo('OpenApiDocument') } },
    } satisfies Documentation,

    async handle(): Promise<HttpResponse> {
      // Rarely asked for: a start does not load it.
      const { createOpenApi } = await import('./openapi.ts')
      document ??= await createOpenApi({ ...deps, routes: listRoutes() })
      return json(200, document)
    },
  }
}
