import type { RouteDeps } from '../../http/deps.ts'
import { toOperation } from './openapi-operation.ts'
import { API_VERSIONS, type ApiDescription } from './openapi-versions.ts'
import { documentationOf, type Route } from '../../http/route.ts'

/** The version of the API, not of the program: it does not show attackers which release runs. */
export type ApiVersion = keyof typeof API_VERSIONS

interface OpenApiDeps extends Pick<RouteDeps, 'baseUrl' | 'cookieTable'> {
  version: ApiVersion
  routes: readonly Route[]
}

/** The OpenAPI 3.1 document of the JSON routes of one version. */
export const createOpenApi = async ({ version, routes, baseUrl, cookieTable }: OpenApiDeps): Promise<string> => {
  const { description, has, tags, schemas, headers, securitySchemes }: ApiDescription = API_VERSIONS[version]
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.responseKind !== 'json' || !has(route)) continue
    const operation = toOperation({ ...route, documentation: await documentationOf(route) })
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
