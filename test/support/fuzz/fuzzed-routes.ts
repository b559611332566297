import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readSentRequest } from '../../../src/clients/authorize-request.ts'
import { type Documentation, methodsOf, type Route } from '../../../src/http/route.ts'
import { routeTable } from '../service/route-table.ts'

/** A row of THE table of routes, as far as it says what a request for it looks like. */
export interface FuzzedRoute {
  path: string
  methods: string[]
  takes: 'form' | 'json' | 'nothing'
  /** Members of the body that the documentation names. */
  members: Record<string, Member>
  required: string[]
  /** Parameters of the query, or fields of a program's form, without which the route does nothing. */
  expects: string[]
  /** The header `Authorization` has the last text that was given out under this name. */
  bearer: string | undefined
  /** All that the documentation names. */
  parameters: string[]
}

export interface Member {
  type?: unknown
  enum?: unknown[]
}

const SOURCE = path.join(import.meta.dirname, '../../../src')

/** Of the callback of a provider. */
const OF_PROVIDERS = ['state', 'code', 'iss', 'error', 'user', 'intent']

/** All that a client can send to `authorize`. */
const ofAuthorize = (): string[] => {
  const names: string[] = []
  readSentRequest({ all: (name) => names.splice(names.length, 0, name) })
  return names
}

/** What a client sends to the OAuth server, so that the request can be good. */
const OF_CLIENTS: Record<string, string[]> = {
  '/auth/oauth2/authorize': [
    'client_id',
    'redirect_uri',
    'response_type',
    'code_challenge',
    'code_challenge_method',
    'scope',
  ],
  '/auth/oauth2/logout': ['id_token_hint', 'post_logout_redirect_uri'],
  '/auth/oauth2/token': ['grant_type', 'client_id', 'client_secret', 'code', 'code_verifier', 'refresh_token'],
  '/auth/oauth2/revoke': ['client_id', 'client_secret', 'token'],
  '/auth/oauth2/introspect': ['token'],
}

/** Members of what a client registers (RFC 7591). */
const METADATA: Record<string, Member> = {
  redirect_uris: {
    enum: [['http://127.0.0.1/callback'], ['cursor://x', 'javascript:alert(1)'], ['http://localhost:1/?a', '//x']],
  },
  post_logout_redirect_uris: { type: 'array' },
  client_name: {},
  scope: {},
  token_endpoint_auth_method: { enum: ['none', 'client_secret_basic', 1] },
}

const BEARERS: Record<string, string> = {
  '/auth/oauth2/userinfo': 'access_token',
  '/auth/oauth2/introspect': 'api_key',
}

/** Every name that a handler reads from a form or a query. */
export const fieldNames = (): string[] => {
  const sources = globSync('{http,web,api}/**/*.ts', { cwd: SOURCE }).map((file) =>
    readFileSync(path.join(SOURCE, file), 'utf8'),
  )
  const reads = /\b(?:form\.get|query\.get|get|(?:optional|require)Parameter)\((?:context, )?'(\w+)'\)/g
  const found = sources.flatMap((text) => [...text.matchAll(reads)])
  return [...new Set([...found.map(([, name = '']) => name), ...OF_PROVIDERS, ...ofAuthorize()])].toSorted()
}

const takesOf = (route: Route): FuzzedRoute['takes'] => {
  if (route.guard === 'api_key' || ('takesJson' in route && route.takesJson)) return 'json'
  return route.method === 'POST' ? 'form' : 'nothing'
}

const bodyOf = (schema: unknown): { properties?: Record<string, Member>; required?: string[] } => schema ?? {}

const expectsOf = (route: Route, documentation: Documentation | undefined): string[] => {
  const ofClients = OF_CLIENTS[route.path]
  if (ofClients) return ofClients
  if (route.path.endsWith('/callback')) return ['code', 'state']
  if (route.path.endsWith('/link')) return ['pending']
  if ('holdsToken' in route && route.method === 'GET') return ['token']
  return documentation?.parameters?.flatMap(({ name, required }) => (required ? [name] : [])) ?? []
}

const toFuzzed = async (route: Route): Promise<FuzzedRoute> => {
  const documentation = route.responseKind === 'json' ? (await route.module()).documentation : undefined
  const registers = route.path === '/auth/oauth2/register' && { properties: METADATA, required: ['redirect_uris'] }
  const { properties = {}, required = [] } = registers || bodyOf(documentation?.body?.schema)
  return {
    path: route.path,
    methods: methodsOf(route),
    takes: takesOf(route),
    members: { ...Object.fromEntries(required.map((name) => [name, {}])), ...properties },
    required,
    expects: expectsOf(route, documentation),
    parameters:
      route.path === '/auth/oauth2/authorize'
        ? ofAuthorize()
        : (documentation?.parameters?.map(({ name }) => name) ?? []),
    bearer: route.guard === 'api_key' ? 'api_key' : BEARERS[route.path],
  }
}

/** Every row of the table, with a provider of that name. */
export const fuzzedRoutes = (provider: string): Promise<FuzzedRoute[]> =>
  Promise.all(routeTable(provider).map(toFuzzed))
