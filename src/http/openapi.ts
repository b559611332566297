import { ERROR } from './api/schemas.ts'
import type { Documentation, Route, Schema } from './route.ts'

type JsonRoute = Extract<Route, { speaks: 'json' }>

const REQUEST_ID = {
  description: 'Names this request in the log of the service',
  schema: { type: 'string' },
}

const content = (schema: Schema | undefined) => schema && { 'application/json': { schema } }

const toResponse = ([status, { description, schema }]: [string, Documentation['responses'][number]]) => [
  status,
  { description, headers: { 'X-Request-Id': REQUEST_ID }, content: content(schema) },
]

const SECURITY: Partial<Record<Route['guard'], Record<string, string[]>[]>> = {
  access_token: [{ access: [] }],
  refresh_token: [{ refresh: [], csrf: [] }],
}

const toOperation = (route: JsonRoute) => ({
  summary: route.documentation.summary,
  parameters: route.documentation.parameters,
  security: SECURITY[route.guard] ?? [],
  responses: {
    ...Object.fromEntries(Object.entries(route.documentation.responses).map(toResponse)),
    default: { description: 'An error', headers: { 'X-Request-Id': REQUEST_ID }, content: content(ERROR) },
  },
})

/** The OpenAPI 3.1 document of all routes that speak JSON. */
export const createOpenApi = (routes: Route[], { version, baseUrl }: { version: string; baseUrl: string }): string => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.speaks !== 'json') continue
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route) }
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'svc', version, description: 'Who is signed in, and for how long.', license: { name: 'MIT' } },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: {
        access: { type: 'apiKey', in: 'cookie', name: 'svc_access' },
        refresh: { type: 'apiKey', in: 'cookie', name: 'svc_refresh' },
        csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
      },
    },
  })
}
