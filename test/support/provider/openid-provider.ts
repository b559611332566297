import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import type { CookieJar } from '../client/cookie-jar.ts'
import { type ProviderOptions, bodyOf, listenOnLoopback, signInPage } from './loopback-provider.ts'
import { createAdapters } from './openid-provider-adapter.ts'
import { openIdSettings } from './openid-provider-settings.ts'
import { type OpenIdUser, newOpenIdUser } from './openid-provider-users.ts'
import { type Callback, type Choice, completeProviderPages } from './provider-pages.ts'

/** A real OpenID provider. */
export type OpenIdProvider = {
  issuer: string
  clientId: string
  clientSecret: string
  /** The user whom the provider offers to sign in. */
  person: OpenIdUser
  /** Registers a redirect URI of the first client, or of the one named. */
  allowRedirect(uri: string, clientId?: string): void
  addClient(client: { clientId: string; clientSecret: string }): void
  /** Sends a user's browser through the provider, a new browser without a `jar`; resolves to the final redirect. */
  visit(
    authorizationUrl: string | URL,
    options?: { person?: OpenIdUser; answer?: Choice; jar?: CookieJar },
  ): Promise<Callback>
  /** Refuses connections until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

type Metadata = { client_id: string; client_secret: string; redirect_uris: string[] }

/** The registered clients, in the provider's format. */
const createClients = () => {
  const clients = new Map<string, Metadata>()
  const authorizationCode = { response_types: ['code'], grant_types: ['authorization_code'] }
  return {
    add: ({ clientId, clientSecret }: { clientId: string; clientSecret: string }) =>
      void clients.set(clientId, { client_id: clientId, client_secret: clientSecret, redirect_uris: [] }),
    allowRedirect: (uri: string, clientId: string) => {
      const client = clients.get(clientId)
      if (!client) throw new Error(`the provider knows no client ${clientId}`)
      if (!client.redirect_uris.includes(uri)) client.redirect_uris.push(uri)
    },
    find: (clientId: string) => {
      const client = clients.get(clientId)
      return client && structuredClone({ ...client, ...authorizationCode })
    },
  }
}

/**
 * The page on which the user signs in, which also gives consent; when only consent is asked for, it gives that.
 */
const createInteraction =
  (provider: Provider, sitting: () => OpenIdUser) => async (request: IncomingMessage, response: ServerResponse) => {
    const { prompt } = await provider.interactionDetails(request, response)
    if (request.method !== 'POST') {
      const { sub, name } = sitting()
      const page = signInPage({ title: 'OpenID provider', name: name ?? sub, hidden: ['sub', sub] })
      return response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
    }
    const form = new URLSearchParams(await bodyOf(request))
    const refused = { error: 'access_denied', error_description: 'The person cancelled' }
    const agreed = prompt.name === 'login' ? { login: { accountId: form.get('sub') } } : { consent: {} }
    return provider.interactionFinished(request, response, form.get('answer') === 'cancel' ? refused : agreed)
  }

/** Starts an OpenID provider on a free port until the test ends, or the file when no test is given. */
export const startOpenIdProvider = async ({
  t,
  host,
  clientId = 'svc',
  clientSecret = randomUUID(),
}: ProviderOptions = {}): Promise<OpenIdProvider> => {
  const { origin, onRequest, stop, start } = await listenOnLoopback({ t, host })
  const people = new Map<string, OpenIdUser>()
  const clients = createClients()
  clients.add({ clientId, clientSecret })
  const adapter = createAdapters(clients.find)
  const provider = new Provider(origin, { adapter, ...(await openIdSettings(people)) })
  // Its error pages say what is wrong, so it need not print it.
  provider.silent = true

  const meet = (person: OpenIdUser) => {
    people.set(person.sub, person)
    return person
  }
  let atProvider = meet(newOpenIdUser())

  const [interact, protocol] = [createInteraction(provider, () => meet(atProvider)), provider.callback()]
  onRequest((request, response) =>
    request.url?.startsWith('/interaction/') ? interact(request, response) : protocol(request, response),
  )

  return {
    issuer: origin,
    clientId,
    clientSecret,
    get person() {
      return atProvider
    },
    set person(person) {
      atProvider = meet(person)
    },
    allowRedirect: (uri, id = clientId) => clients.allowRedirect(uri, id),
    addClient: clients.add,
    visit: (authorizationUrl, { person, answer = 'sign-in', jar } = {}) => {
      const answers = { answer, ...(person && { sub: meet(person).sub }) }
      return completeProviderPages({ origin, authorizationUrl, answers, ...(jar && { jar }) })
    },
    stop,
    start,
  }
}
