import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type ProviderOptions, bodyOf, listenOnLoopback } from './loopback-provider.ts'
import { ELSEWHERE, send } from './misbehaving-provider-answers.ts'
import type { Situation } from './misbehaving-provider-authorize.ts'
import { type AppleTeam, checkSecret, checkSignedSecret } from './misbehaving-provider-clients.ts'
import { createEndpoints } from './misbehaving-provider-endpoints.ts'
import type { Claims, Fault } from './misbehaving-provider-faults.ts'
import { type Endpoint, type ProfileName, endpointAt, PROFILES } from './misbehaving-provider-profiles.ts'
import { newSigningKey } from './misbehaving-provider-tokens.ts'
import { newOpenIdUser } from './openid-provider-users.ts'
import { type Callback, type Choice, completeProviderPages } from './provider-pages.ts'

/** A request as it arrived; `endpoint` is undefined for an unknown path. */
export type ProviderRequest = {
  endpoint: Endpoint | undefined
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
  form: URLSearchParams
}

/** A provider that behaves well, except for its `fault`. */
export type MisbehavingProvider = {
  /** The issuer that clients are configured with. */
  issuer: string
  origin: string
  clientId: string
  clientSecret: string
  /** The faults from now on; can be set at any time. */
  fault: Fault
  /** The claims about the user of the provider, who is redirected at once, without a page. */
  person: Claims
  /** All requests, in order. */
  requests: ProviderRequest[]
  requestsFor(endpoint: Endpoint): ProviderRequest[]
  /** Signs with a new key from now on, and publishes only that key. */
  rotateKey(): Promise<void>
  /** Sends a user's browser through the provider; resolves to the final redirect. */
  visit(authorizationUrl: string | URL, options?: { person?: Claims; answer?: Choice }): Promise<Callback>
  /** Refuses connections until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

const VISITOR = 'x-visitor'
const ANSWER = 'x-answer'

const encoded = (person: Claims): string => encodeURIComponent(JSON.stringify(person))

const visitorOf = ({ [VISITOR]: visitor }: IncomingHttpHeaders): Claims | undefined =>
  typeof visitor === 'string' ? JSON.parse(decodeURIComponent(visitor)) : undefined

const newPerson = (profile: ProfileName): Claims => ({
  ...newOpenIdUser(),
  ...(profile === 'microsoft' && { tid: randomUUID(), oid: randomUUID() }),
})

const received = async (request: IncomingMessage, url: URL): Promise<Omit<ProviderRequest, 'endpoint'>> => {
  const body = await bodyOf(request)
  const { method = '', headers } = request
  return { method, path: url.pathname, query: url.searchParams, headers, body, form: new URLSearchParams(body) }
}

const createListener = (provider: MisbehavingProvider, situation: Situation) => {
  const endpoints = createEndpoints(situation)
  const faultAt = (name: Endpoint) => (name === 'authorize' ? undefined : provider.fault[name])
  return async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', provider.origin)
    const path = url.pathname.startsWith(ELSEWHERE) ? url.pathname.slice(ELSEWHERE.length) : url.pathname
    const endpoint = endpointAt(situation.profile, path)
    const came = { ...(await received(request, url)), endpoint: endpoint?.name }
    provider.requests.push(came)
    if (!endpoint) return response.writeHead(404).end()
    const person = visitorOf(came.headers) ?? provider.person
    const isCancelling = came.headers[ANSWER] === 'cancel'
    const good = await endpoints[endpoint.name]({ ...came, tenant: endpoint.tenant, person, isCancelling })
    return send({ request, response, good, fault: faultAt(endpoint.name) })
  }
}

/**
 * Starts a provider on a free port until the test ends, or the file when no test is given. Its `profile` makes it
 * behave like a known provider; with `team` it accepts, like Apple, only client secrets that the team has signed.
 */
export const startMisbehavingProvider = async ({
  t,
  host,
  profile: profileName = 'openid',
  clientId = 'svc',
  clientSecret = randomUUID(),
  team,
  fault = {},
}: ProviderOptions & { profile?: ProfileName; team?: AppleTeam; fault?: Fault } = {}): Promise<MisbehavingProvider> => {
  const { origin, onRequest, stop, start } = await listenOnLoopback({ t, host })
  const profile = PROFILES[profileName]
  let key = await newSigningKey()
  const requests: ProviderRequest[] = []
  const provider: MisbehavingProvider = {
    issuer: origin,
    origin,
    clientId,
    clientSecret,
    fault,
    person: newPerson(profileName),
    requests,
    requestsFor: (endpoint) => requests.filter((request) => request.endpoint === endpoint),
    rotateKey: async () => {
      key = await newSigningKey()
    },
    visit: (authorizationUrl, { person, answer = 'sign-in' } = {}) => {
      const headers = { [ANSWER]: answer, ...(person && { [VISITOR]: encoded(person) }) }
      return completeProviderPages({ origin, authorizationUrl, headers })
    },
    stop,
    start,
  }

  const isClient = team ? checkSignedSecret({ clientId, team }) : checkSecret({ clientId, clientSecret })
  const situation = { origin, clientId, clientSecret, profile, isClient, fault: () => provider.fault, key: () => key }
  onRequest(createListener(provider, situation))
  return provider
}
