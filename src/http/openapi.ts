import { refTo, SCHEMAS } from './api/schemas.ts'
import type { RouteDeps } from './deps.ts'
import type { Documentation, ResponseHeader, Route } from './route.ts'

type JsonRoute = Extract<Route, { responseKind: 'json' }>
type DocumentedResponse = Documentation['responses'][number]

/** The version of the API, not of the program: it does not show attackers which release runs. */
const API_VERSION = 'v1'

const TAGS: Record<Documentation['tag'], string> = {
  Users: 'The signed-in user',
  Sessions: 'Renewal of the session',
  Keys: 'Public keys for access tokens',
  Operation: 'For operators',
}

const HEADERS: Record<ResponseHeader | 'X-Request-Id', { description: string; schema: object }> = {
  'X-Request-Id': { description: 'Identifies the request in the log of the service', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds until a retry makes sense', schema: { type: 'integer', minimum: 1 } },
  'Set-Cookie': {
    description:
      'One header for each session cookie (access, refresh and CSRF token): new cookies after a renewal, expired ones ' +
      'after the end of the session',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'RFC 9110 section 11.6.1', schema: { type: 'string' } },
}

const headerRefs = (names: ResponseHeader[] = []) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const toResponse = ({ description, schema, headers }: DocumentedResponse) => ({
  description,
  headers: headerRefs(headers),
  ...(schema && { content: { 'application/json': { schema } } }),
})

const SECURITY: Partial<Record<Route['guard'], Record<string, string[]>[]>> = {
  access_token: [{ access: [] }],
  refresh_token: [{ refresh: [] }],
}

const toOperation = ({ guard, documentation }: JsonRoute) => {
  const { operationId, summary, tag, parameters, responses } = documentation
  return {
    operationId,
    summary,
    tags: [tag],
    ...(parameters && { parameters }),
    security: SECURITY[guard] ?? [],
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, toResponse(response)])),
      default: toResponse({ description: 'An error', schema: refTo('Error') }),
    },
  }
}

interface OpenApiDeps extends Pick<RouteDeps, 'baseUrl' | 'cookieTable'> {
  routes: readonly Route[]
}

/** The OpenAPI 3.1 document of all JSON routes. */
export const createOpenApi = ({ routes, baseUrl, cookieTable }: OpenApiDeps): string => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.responseKind !== 'json') continue
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route) }
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: API_VERSION,
      description: 'The signed-in user, and the renewal of the session.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: SCHEMAS,
      headers: HEADERS,
      securitySchemes: {
        access: { type: 'apiKey', in: 'cookie', name: cookieTable.access.name },
        refresh: { type: 'apiKey', in: 'cookie', name: cookieTable.refresh.name },
      },
    },
  })
}
