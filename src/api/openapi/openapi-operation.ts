import { failure, refTo, UNAVAILABLE } from '../schemas.ts'
import type { Documentation, JsonRoute, ResponseHeader, Route } from '../../http/route.ts'

type DocumentedRoute = JsonRoute & { documentation: Documentation }

type DocumentedResponse = Documentation['responses'][number]

const headerRefs = (names: ResponseHeader[] = []) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const toResponse = ({ description, schema, stream, headers }: DocumentedResponse) => ({
  description,
  headers: headerRefs(headers),
  ...(schema && {
    content: { 'application/json': { schema }, ...(stream && { 'text/event-stream': { schema: stream } }) },
  }),
})

const SECURITY: Partial<Record<Route['guard'], Record<string, string[]>[]>> = {
  access_token: [{ access: [] }],
  refresh_token: [{ refresh: [] }],
}

const securityOf = (route: JsonRoute) =>
  route.guard === 'api_key' ? [{ api_key: [route.scope] }] : (SECURITY[route.guard] ?? [])

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Of requests with the same key, one has an effect; the others get its response for 24 hours',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

/** A client with a metadata document has a URL as its id. */
const CLIENT_ID = { type: 'string', minLength: 1 }

const parametersOf = ({ path, method, guard, documentation }: DocumentedRoute) => [
  ...[...path.matchAll(/\/(\w+)s\/\{(\w+)\}/g)].map(([, subject = '', name]) => ({
    name,
    in: 'path',
    required: true,
    description: `The id of the ${subject}`,
    schema: subject === 'client' ? CLIENT_ID : { type: 'string', format: 'uuid' },
  })),
  ...(documentation.parameters ?? []),
  ...(guard === 'api_key' && method === 'POST' ? [IDEMPOTENCY_KEY] : []),
]

/** Every route of the server API has these failures. A handler's own description of a status comes before these. */
const failuresOf = ({ guard, documentation: { body } }: DocumentedRoute): Documentation['responses'] => {
  if (guard !== 'api_key') return {}
  return {
    401: failure('`unauthorized`: the key is missing, wrong, revoked, or has expired', 'WWW-Authenticate'),
    403: failure('`forbidden`: the key does not have the scope, or the request comes from a page'),
    ...(body && {
      400: failure('`invalid_request`: the body is no JSON object'),
      413: failure('`payload_too_large`: the body is larger than 64 KiB'),
      415: failure('`unsupported_media_type`: the body is not application/json'),
      422: failure('`unprocessable`: `field` is not accepted'),
    }),
    429: failure('`rate_limited`: too many wrong keys from one address', 'Retry-After'),
    503: UNAVAILABLE,
  }
}

const UNDER_WAY = 'the first request with this Idempotency-Key is still under way (then with `Retry-After`)'

const isRepeated = (status: string): boolean => /^(?:2..|409|422)$/.test(status)

/** An `Idempotency-Key` adds these responses to those of a `POST`. */
const withIdempotency = (responses: Documentation['responses']): Documentation['responses'] => {
  const { 409: conflict = { description: '`conflict`', schema: refTo('Error') } } = responses
  const all: Documentation['responses'] = {
    ...responses,
    409: { ...conflict, description: `${conflict.description}; or ${UNDER_WAY}`, headers: ['Retry-After'] },
  }
  const entries = Object.entries(all).map(([status, response]): [string, DocumentedResponse] => [
    status,
    isRepeated(status) ? { ...response, headers: [...(response.headers ?? []), 'Idempotency-Replayed'] } : response,
  ])
  return Object.fromEntries(entries)
}

const responsesOf = (route: DocumentedRoute): Documentation['responses'] => {
  const responses = { ...failuresOf(route), ...route.documentation.responses }
  return route.guard === 'api_key' && route.method === 'POST' ? withIdempotency(responses) : responses
}

export const toOperation = (route: DocumentedRoute) => {
  const { operationId, summary, tag, body } = route.documentation
  const parameters = parametersOf(route)
  return {
    operationId,
    summary,
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body.schema } } } }),
    security: securityOf(route),
    responses: {
      ...Object.fromEntries(
        Object.entries(responsesOf(route)).map(([status, response]) => [status, toResponse(response)]),
      ),
      default: toResponse({ description: 'An error', schema: refTo('Error') }),
    },
  }
}
