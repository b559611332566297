import fc from 'fast-check'
import type { FuzzedRoute, Member } from './fuzzed-routes.ts'
import { headerText, nasty } from './nasty.ts'
import { genuine, newest, type Value, valueFor } from './value.ts'

export type Pairs = [name: string, value: Value][]

/** A request as it is generated and shrunk: what the service has given out is named, and filled in when it is sent. */
export interface FuzzRequest {
  method: string
  path: string
  parameters: [Value, Value]
  tail: string
  query: Pairs
  /** `own`: those of the browser. */
  cookies: 'own' | Pairs
  csrf: boolean
  key: Value | undefined
  type: string | undefined
  headers: Record<string, string>
  /** `shown`: a form that a page has shown for the address, with these fields in place of some of its own. */
  body: { shown: number; form: Pairs } | { form: Pairs } | { json: unknown } | { text: string } | undefined
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
const TYPES = {
  form: 'application/x-www-form-urlencoded',
  json: 'application/json',
  nothing: undefined,
}
const OTHER_TYPES = [
  undefined,
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded; charset=latin1',
  'multipart/form-data; boundary=x',
  'application/json',
  'application/x-www-form-urlencoded',
]
const HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-encoding',
  'cookie2',
  'forwarded',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'sec-fetch-mode',
  'sec-fetch-site',
  'svc-probe',
  'user-agent',
  'x-csrf-token',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-method',
  'x-forwarded-proto',
  'x-forwarded-uri',
  'x-http-method-override',
  'x-original-method',
  'x-original-uri',
  'x-original-url',
  'x-request-id',
]
const COOKIES = [
  'svc_access',
  'svc_refresh',
  'svc_csrf',
  'svc_device',
  'svc_last_way',
  'svc_link',
  'svc_pending',
  'svc_codes',
  'svc_done',
]
const MORE_COOKIES = ['svc_oauth', 'svc_stay', 'svc_session', 'svc_fresh', '__Host-svc_access', '__proto__', 'other']

/** Most requests are usual in a part: otherwise none would reach a handler. */
const mostly = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other })

const requestFor = (route: FuzzedRoute, fields: readonly string[]): fc.Arbitrary<FuzzRequest> => {
  const members = Object.keys(route.members)
  const names = [...fields, ...members, ...COOKIES]
  const pair = (name: string): fc.Arbitrary<[string, Value]> => fc.tuple(fc.constant(name), valueFor(name, names))
  const pairs = (some: readonly string[], most: number): fc.Arbitrary<Pairs> =>
    some.length === 0
      ? fc.constant([])
      : fc.array(
          mostly(
            fc.constantFrom(...some).chain(pair),
            nasty.chain((name) => pair(name)),
          ),
          { maxLength: most },
        )
  const member: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 4, arbitrary: valueFor('id', names) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )
  const documented = Object.entries(route.members).map(([name, schema]): [string, fc.Arbitrary<unknown>] => [
    name,
    mostly<unknown>(memberOf(schema, name, names), member),
  ])
  const json = fc.oneof(
    { weight: 4, arbitrary: fc.record(Object.fromEntries(documented), { requiredKeys: route.required }) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...names), member, { maxKeys: 5 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
  const expectedAnd = (some: readonly string[]): fc.Arbitrary<Pairs> =>
    fc.tuple(expected(route.expects), pairs(some, 2)).map((parts) => parts.flat())
  const shown = fc.record({ shown: fc.nat(5), form: fc.oneof(fc.constant<Pairs>([]), pairs(fields, 3)) })
  const bodies = {
    form: mostly<FuzzRequest['body']>(
      // A program's form is on no page.
      route.path.startsWith('/auth/oauth2/') && route.expects.length > 0
        ? fc.record({ form: expectedAnd(fields) })
        : shown,
      fc.record({ form: pairs(fields, 7) }),
    ),
    json: json.map((value) => ({ json: value })),
    nothing: fc.constant(undefined),
  }
  const anyBody = fc.oneof<fc.Arbitrary<FuzzRequest['body']>[]>(
    bodies.form,
    bodies.json,
    bodies.nothing,
    nasty.map((text) => ({ text })),
  )
  return fc.record({
    method: mostly(fc.constantFrom(...route.methods), fc.constantFrom(...METHODS)),
    path: fc.constant(route.path),
    parameters: fc.tuple(
      mostly(genuine('user_id'), valueFor('id', names)),
      mostly(genuine('session_id'), valueFor('id', names)),
    ),
    tail: fc.oneof(
      { weight: 20, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: nasty.map((text) => `/${encodeURIComponent(text)}`) },
    ),
    query: fc.oneof(
      { weight: 4, arbitrary: expected(route.expects) },
      { weight: 2, arbitrary: expectedAnd(route.parameters) },
      { weight: 2, arbitrary: pairs([...route.parameters, ...fields.filter((name) => IN_QUERIES.has(name))], 3) },
      { weight: 1, arbitrary: pairs(names, 3) },
    ),
    cookies: fc.oneof(
      { weight: 4, arbitrary: fc.constant('own' as const) },
      { weight: 1, arbitrary: pairs([...COOKIES, ...MORE_COOKIES], 7) },
    ),
    csrf: mostly(fc.constant(true), fc.constant(false)),
    key: route.bearer
      ? mostly(kept(route.bearer), fc.option(valueFor(route.bearer, names), { nil: undefined }))
      : noKey,
    type: mostly<string | undefined>(fc.constant(TYPES[route.takes]), fc.constantFrom(...OTHER_TYPES)),
    headers: mostly(
      fc.constant({}),
      fc.dictionary(fc.constantFrom(...HEADERS), headerText, { minKeys: 1, maxKeys: 4 }),
    ),
    body: mostly<FuzzRequest['body']>(bodies[route.takes], anyBody),
  })
}

const expected = (names: readonly string[]): fc.Arbitrary<Pairs> =>
  fc.tuple(
    ...names.map(
      (name): fc.Arbitrary<[string, Value]> =>
        fc.tuple(fc.constant(name), mostly(fc.constant(newest(name)), genuine(name))),
    ),
  )

const kept = (name: string) => fc.constant<Value | undefined>(newest(name))
const noKey = fc.constant(undefined)
/** Names that pages read from their address. */
const IN_QUERIES = new Set(['return_to', 'token', 'pending', 'done', 'email', 'acr', 'replace', 'redirect', 'headers'])

const memberOf = (schema: Member, name: string, names: readonly string[]): fc.Arbitrary<unknown> => {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const { type } = schema
  if (type === 'boolean') return fc.boolean()
  if (type === 'array')
    return fc.oneof(fc.constant(['admin', 'a:b']), fc.array(valueFor(name, names), { maxLength: 3 }))
  if (type === 'object') return fc.dictionary(fc.constantFrom(...names), valueFor(name, names), { maxKeys: 4 })
  return valueFor(name, names)
}

/** Requests for all routes alike, more or less as they are meant. */
export const fuzzRequest = (routes: readonly FuzzedRoute[], fields: readonly string[]): fc.Arbitrary<FuzzRequest> =>
  fc.oneof(...routes.map((route) => requestFor(route, fields)))
