import { randomInt, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { CookieJar } from '../client/cookie-jar.ts'
import {
  type Asked,
  type GitHubClient,
  createApi,
  createAuthorizeEndpoint,
  createTokenEndpoint,
} from './github-provider-endpoints.ts'
import { type ProviderOptions, bodyOf, listenOnLoopback } from './loopback-provider.ts'
import { type Answer, type BadAnswer, ELSEWHERE, send } from './misbehaving-provider-answers.ts'
import { type Callback, type Choice, completeProviderPages } from './provider-pages.ts'

export type GitHubEmail = {
  email: string
  primary: boolean
  verified: boolean
  visibility: 'public' | 'private' | null
}

/** A user of GitHub: the profile, whose public email proves nothing, and the emails. */
export type GitHubPerson = {
  user: { id: number; login: string; name: string | null; email: string | null; avatar_url: string }
  emails: GitHubEmail[]
}

/** A new user with one verified email, which the profile does not contain. */
export const newGitHubPerson = ({
  user = {},
  emails,
}: {
  user?: Partial<GitHubPerson['user']>
  emails?: GitHubEmail[]
} = {}): GitHubPerson => {
  const login = `g${randomUUID().replaceAll('-', '').slice(0, 12)}`
  const avatar_url = `https://avatars.example.com/${login}`
  return {
    user: { id: randomInt(1, 2 ** 40), login, name: `Person ${login}`, email: null, avatar_url, ...user },
    emails: emails ?? [{ email: `${login}@example.com`, primary: true, verified: true, visibility: 'private' }],
  }
}

/** A server that behaves like GitHub, with its API below /api/v3, as on every host but github.com. */
export type GitHubServer = {
  origin: string
  clientId: string
  clientSecret: string
  /** The user whom the server offers to sign in. */
  person: GitHubPerson
  /** Whether it redirects at once, without its page, as for a user who has agreed before. */
  isAutomatic: boolean
  /** The endpoints that answer wrongly, from now on. */
  fault: { token?: BadAnswer; user?: BadAnswer; emails?: BadAnswer }
  /** All requests, in order. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders; form: URLSearchParams }[]
  /** Registers a redirect URI; those below it are allowed too. */
  allowRedirect(uri: string): void
  /** Sends a user's browser through the server, a new browser without a `jar`; resolves to the final redirect. */
  visit(
    authorizationUrl: string | URL,
    options?: { person?: GitHubPerson; answer?: Choice; jar?: CookieJar },
  ): Promise<Callback>
  /** Refuses connections until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

const NOT_FOUND: Answer = { status: 404, type: 'text/html', body: '<h1>404</h1>' }
const API = '/api/v3'

type People = { client: GitHubClient; sitting: (id: string | null) => GitHubPerson }

const createListener = (server: GitHubServer, { client, sitting }: People) => {
  const [codes, tokens] = [new Map(), new Map()]
  const authorize = createAuthorizeEndpoint({ client, codes, sitting, isKnown: () => server.isAutomatic })
  const token = createTokenEndpoint({ client, codes, tokens })
  const api = createApi({ tokens })
  const answer = (asked: Asked): Answer => {
    if (asked.path.startsWith(API)) return api({ ...asked, path: asked.path.slice(API.length) })
    if (asked.path === '/login/oauth/authorize') return authorize(asked)
    return asked.path === '/login/oauth/access_token' && asked.request.method === 'POST' ? token(asked) : NOT_FOUND
  }
  const faultAt = (path: string): BadAnswer | undefined => {
    const { token, user, emails } = server.fault
    return { '/login/oauth/access_token': token, '/api/v3/user': user, '/api/v3/user/emails': emails }[path]
  }
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', server.origin)
    const path = pathname.startsWith(ELSEWHERE) ? pathname.slice(ELSEWHERE.length) : pathname
    const form = new URLSearchParams(await bodyOf(request))
    server.requests.push({ method: request.method ?? '', path: pathname, headers: request.headers, form })
    send({ request, response, good: answer({ path, query: searchParams, form, request }), fault: faultAt(path) })
  }
}

/** Starts a server like GitHub on a free port until the test ends, or the file when no test is given. */
export const startGitHubServer = async ({
  t,
  host,
  clientId = 'svc',
  clientSecret = randomUUID(),
}: ProviderOptions = {}): Promise<GitHubServer> => {
  const { origin, onRequest, stop, start } = await listenOnLoopback({ t, host })
  const client: GitHubClient = { clientId, clientSecret, redirectUris: new Set() }
  const people = new Map<string, GitHubPerson>()
  const meet = (person: GitHubPerson) => {
    people.set(String(person.user.id), person)
    return person
  }
  const server: GitHubServer = {
    origin,
    clientId,
    clientSecret,
    person: newGitHubPerson(),
    isAutomatic: false,
    fault: {},
    requests: [],
    allowRedirect: (uri) => void client.redirectUris.add(uri),
    visit: (authorizationUrl, { person, answer = 'sign-in', jar } = {}) => {
      const answers = { answer, ...(person && { id: String(meet(person).user.id) }) }
      return completeProviderPages({ origin, authorizationUrl, answers, ...(jar && { jar }) })
    },
    stop,
    start,
  }

  const sitting = (id: string | null) => people.get(id ?? '') ?? meet(server.person)
  onRequest(createListener(server, { client, sitting }))
  return server
}
