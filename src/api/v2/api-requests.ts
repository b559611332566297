import type { IncomingMessage } from 'node:http'
import { type AuthenticatedKey, requireScope } from '../../api-keys/api-keys.ts'
import { type Awaitable, after } from '../../lib/awaitable.ts'
import { AppError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Services } from '../../http/services.ts'
import { createRunOnce } from './idempotent-request.ts'
import { type HttpResponse, noContent } from '../../http/response.ts'
import { type Documentation, type KeyRoute } from '../../http/route.ts'
import { readParameters } from '../../http/route-lookup.ts'
import { readJson, shownName } from '../../http/body/json.ts'
import { readBody } from '../../http/body/body.ts'
import type { IncomingRequest } from '../../http/transport/incoming-request.ts'

const MAX_JSON_KIB = 64

/** Handles requests to the server API, after the checks that the contract puts before their handler, in this order. */
export const createApiRequests = ({
  apiKeys,
  idempotency,
  limits,
}: Pick<Services, 'apiKeys' | 'idempotency' | 'limits'>) => {
  const runOnce = createRunOnce(idempotency)

  /**
   * Throws `rate_limited` after too many wrong keys from one network. A good key passes, even if other clients there
   * have sent wrong ones.
   */
  const requireKey = (context: IncomingRequest): Awaitable<AuthenticatedKey> => {
    if (context.countHeaders('authorization') > 1) throw unauthorized('The header Authorization came more than once.')
    const text = bearerOf(context.headers.authorization)
    if (text === undefined) throw unauthorized('Send an API key: Authorization: Bearer svc_sk_…')
    return after(apiKeys.authenticate(text), (key) => key ?? refuseKey(context))
  }

  const refuseKey = ({ network }: IncomingRequest): Promise<never> =>
    limits.attempt([['wrongKeyOfAddress', { network }]], async () => {
      throw unauthorized('The API key is not good: it is wrong, was revoked, or has expired.')
    })

  return {
    handle(route: KeyRoute, context: IncomingRequest, incoming: IncomingMessage): Awaitable<HttpResponse> {
      context.ignoreCookies()
      refuseBrowser(context)
      return after(requireKey(context), async (key) => {
        context.apiKey = key
        requireScope(key, route.scope)
        const { documentation } = await route.module()
        requireKnownQuery(documentation, context)
        context.parameters = readIds(route, context)
        if (!Object.values(context.parameters).every((id) => isUuid(id) || isDocument(id)))
          return answerForNothing(route)
        const isRequired = documentation.body !== undefined
        if (route.method === 'POST') {
          const body = await readJsonOf(context, incoming, isRequired)
          const { handle } = await route.module()
          return runOnce(context, key, body, (keep) => handle(context, key, keep))
        }
        if (route.method === 'PATCH') await readJsonOf(context, incoming, isRequired)
        return (await route.module()).handle(context, key)
      })
    },
  }
}

/** Reads the body, and hands the JSON in it to the handler. */
const readJsonOf = async (
  context: IncomingRequest,
  incoming: IncomingMessage,
  isRequired: boolean,
): Promise<Uint8Array> => {
  const body = await readBody(incoming, MAX_JSON_KIB)
  const { 'content-type': type, 'content-encoding': encoding } = context.headers
  if (isRequired || body.length > 0) context.json = readJson(body, type, encoding)
  return body
}

/** A page of another origin could have got hold of a key only by a mistake, and no page may ever use one. */
const refuseBrowser = ({ headers }: IncomingRequest): void => {
  if (headers.origin === undefined) return
  const message = 'The header Origin is there: this API is for the backend of the application, and not for browsers.'
  throw new AppError('forbidden', message, { field: 'Origin' })
}

/** RFC 6750 section 2.1 defines the header. */
const bearerOf = (header: string | undefined): string | undefined => /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]

const unauthorized = (message: string): AppError => new AppError('unauthorized', message)

/** Letter case does not count in a UUID (RFC 9562 section 4), and an application may store them in upper case. */
const readIds = (route: KeyRoute, { path }: IncomingRequest): Record<string, string> => {
  const sent = readParameters(route.path, path) ?? {}
  const hasDocuments = route.path.startsWith('/auth/api/v2/clients/')
  const read = (id: string): string => (hasDocuments && readDocumentId(id)) || id.toLowerCase()
  return Object.fromEntries(Object.entries(sent).map(([name, id]) => [name, read(id)]))
}

/** A client with a metadata document has the URL of it as its id, which is percent-encoded in a path. */
const readDocumentId = (sent: string): string | undefined => {
  try {
    const id = decodeURIComponent(sent)
    return isDocument(id) ? id : undefined
  } catch {
    return undefined
  }
}

const isDocument = (id: string): boolean => /^https:\/\/[\x21-\x7e]+$/.test(id)

/** All other ids are UUIDs. A text that is neither may be anything, even a key, and goes no further than this. */
const answerForNothing = ({ method }: KeyRoute): HttpResponse => {
  if (method === 'DELETE') return noContent
  throw new AppError('not_found', 'There is nothing with this id.')
}

/** A misspelt parameter must not silently select everything. */
const requireKnownQuery = ({ parameters = [] }: Documentation, { query }: IncomingRequest): void => {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  for (const name of query.names) {
    const parameter = known.find((it) => it.name === name)
    if (!parameter) throw unknownParameter(name, known)
    // This refuses a repeated one.
    if (parameter.schema.type !== 'array') query.get(name)
  }
}

const unknownParameter = (sent: string, known: { name: string }[]): AppError => {
  const field = shownName(sent)
  const there = known.length > 0 ? `there are ${known.map(({ name }) => name).join(', ')}` : 'there is none'
  return new AppError('invalid_request', `There is no query parameter ${JSON.stringify(field)} here; ${there}.`, {
    field,
  })
}
