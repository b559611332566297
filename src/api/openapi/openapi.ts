import type { Services } from '../../http/services.ts'
import { toOperation } from './openapi-operation.ts'
import { API_VERSIONS, type ApiDescription } from './openapi-versions.ts'
import { type Documentation, type Route } from '../../http/route.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import { refTo } from '../schemas.ts'

/** This is the version of the API, not of the program: it does not show attackers which release runs. */
type ApiVersion = keyof typeof API_VERSIONS

interface OpenApiDeps extends Pick<Services, 'baseUrl' | 'cookieTable'> {
  version: ApiVersion
  routes: readonly Route[]
}

/** Creates the OpenAPI 3.1 document of the JSON routes of one version. */
const createOpenApi = async ({ version, routes, baseUrl, cookieTable }: OpenApiDeps): Promise<string> => {
  const { description, has, tags, schemas, headers, securitySchemes }: ApiDescription = API_VERSIONS[version]
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.responseKind !== 'json' || !has(route)) continue
    const operation = toOperation({ ...route, documentation: (await route.module()).documentation })
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'svc', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: { schemas, headers, securitySchemes: securitySchemes(cookieTable) },
  })
}

interface GetOpenApiDeps extends Pick<Services, 'baseUrl' | 'cookieTable'> {
  version: ApiVersion
  /** It is a function, since the route of this handler is itself in the table. */
  listRoutes: () => readonly Route[]
}

/** Answers `GET /auth/api/v1/openapi.json`, and the same route of the server API. */
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
      document ??= await createOpenApi({ ...deps, routes: listRoutes() })
      return json(200, document)
    },
  }
}
