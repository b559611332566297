import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Documentation, methodsOf, type Route } from '../../../src/http/route.ts'
import { routeTable } from '../service/route-table.ts'

/** A row of THE table of routes, as far as it says what a request for it looks like. */
export interface FuzzedRoute {
  path: string
  methods: string[]
  takes: 'form' | 'json' | 'nothing'
  needs: Route['guard']
  /** Members of the body that the documentation names. */
  members: Record<string, Member>
  required: string[]
  /** Parameters of the query without which the route does nothing. */
  expects: string[]
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

/** Every name that a handler reads from a form or a query. */
export const fieldNames = (): string[] => {
  const sources = globSync('{http,web,api}/**/*.ts', { cwd: SOURCE }).map((file) =>
    readFileSync(path.join(SOURCE, file), 'utf8'),
  )
  const found = sources.flatMap((text) => [...text.matchAll(/\b(?:form|query)\.get\('(\w+)'\)/g)])
  return [...new Set([...found.map(([, name = '']) => name), ...OF_PROVIDERS])].toSorted()
}

const takesOf = (route: Route): FuzzedRoute['takes'] => {
  if (route.guard === 'api_key' || ('takesJson' in route && route.takesJson)) return 'json'
  return route.method === 'POST' ? 'form' : 'nothing'
}

const bodyOf = (schema: unknown): { properties?: Record<string, Member>; required?: string[] } => schema ?? {}

const expectsOf = (route: Route, documentation: Documentation | undefined): string[] => {
  if (route.path.endsWith('/callback')) return ['code', 'state']
  if (route.path.endsWith('/link')) return ['pending']
  if ('holdsToken' in route && route.method === 'GET') return ['token']
  return documentation?.parameters?.flatMap(({ name, required }) => (required ? [name] : [])) ?? []
}

const toFuzzed = async (route: Route): Promise<FuzzedRoute> => {
  const documentation = route.responseKind === 'json' ? (await route.module()).documentation : undefined
  const { properties = {}, required = [] } = bodyOf(documentation?.body?.schema)
  return {
    path: route.path,
    methods: methodsOf(route),
    takes: takesOf(route),
    needs: route.guard,
    members: { ...Object.fromEntries(required.map((name) => [name, {}])), ...properties },
    required,
    expects: expectsOf(route, documentation),
    parameters: documentation?.parameters?.map(({ name }) => name) ?? [],
  }
}

/** Every row of the table, with a provider of that name. */
export const fuzzedRoutes = (provider: string): Promise<FuzzedRoute[]> =>
  Promise.all(routeTable(provider).map(toFuzzed))
