import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { GitHubPerson } from './github-server.ts'
import { signInPage } from './loopback-provider.ts'
import type { Answer } from './misbehaving-provider-answers.ts'

export type GitHubClient = { clientId: string; clientSecret: string; redirectUris: Set<string> }

/** The parameters of a request: the query of its URL and the fields of its form. */
export type Asked = { path: string; query: URLSearchParams; form: URLSearchParams; request: IncomingMessage }

/** The authorization, its user, and the redirect URI. */
type Authorization = { person: GitHubPerson; scopes: string[]; redirectUri: string; challenge: string | null }
type Code = Authorization & { expiresAtMs: number }

const CODE_LIFETIME_MS = 10 * 60_000
const DOCUMENTATION = 'https://docs.github.com/apps/managing-oauth-apps/troubleshooting'

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
  headers,
})
const page = (html: string, status = 200): Answer => ({ status, type: 'text/html; charset=utf-8', body: html })

const complaint = (message: string, status: number): Answer =>
  json({ message, documentation_url: DOCUMENTATION, status: String(status) }, status)

const DESCRIPTIONS = {
  incorrect_client_credentials: 'The client_id and/or client_secret passed are incorrect.',
  bad_verification_code: 'The code passed is incorrect or expired.',
  redirect_uri_mismatch: 'The redirect_uri MUST match the registered callback URL for this application.',
  access_denied: 'The user has denied your application access.',
  invalid_request: 'The code_challenge_method must be S256.',
}

const refusal = (error: keyof typeof DESCRIPTIONS) => ({
  error,
  error_description: DESCRIPTIONS[error],
  error_uri: `${DOCUMENTATION}#${error}`,
})

const redirect = (uri: string, parameters: Record<string, string | null>): Answer => {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.append(name, value)
  return { status: 302, body: '', headers: { location: url.href } }
}

/** Whether a redirect URI is a registered one, or below one. */
const allows = ({ redirectUris }: GitHubClient, uri: string): boolean => {
  const { origin, pathname } = new URL(uri)
  return [...redirectUris].some((registered) => {
    const root = new URL(registered)
    return root.origin === origin && (pathname === root.pathname || pathname.startsWith(`${root.pathname}/`))
  })
}

const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** The authorization page; a user who `isKnown` is redirected at once. */
export const createAuthorizeEndpoint = ({
  client,
  codes,
  sitting,
  isKnown,
}: {
  client: GitHubClient
  codes: Map<string, Code>
  /** The user, chosen by user id if the page's form contains one. */
  sitting: (id: string | null) => GitHubPerson
  isKnown: () => boolean
}) => {
  const allow = (authorization: Authorization): string => {
    const code = randomBytes(10).toString('hex')
    codes.set(code, { ...authorization, expiresAtMs: Date.now() + CODE_LIFETIME_MS })
    return code
  }
  return ({ query, form, request }: Asked): Answer => {
    const [registered = ''] = client.redirectUris
    const redirectUri = query.get('redirect_uri') ?? registered
    const [state, challenge] = [query.get('state'), query.get('code_challenge')]
    if (query.get('client_id') !== client.clientId || redirectUri === '') return page('<h1>404</h1>', 404)
    if (!allows(client, redirectUri)) return redirect(registered, { ...refusal('redirect_uri_mismatch'), state })
    const isPlain = challenge !== null && query.get('code_challenge_method') !== 'S256'
    if (isPlain) return redirect(redirectUri, { ...refusal('invalid_request'), state })

    const person = sitting(form.get('id'))
    if (request.method !== 'POST' && !isKnown()) {
      const hidden: [string, string] = ['id', String(person.user.id)]
      return page(signInPage({ title: 'Authorize application', name: person.user.login, hidden }))
    }
    if (form.get('answer') === 'cancel') return redirect(redirectUri, { ...refusal('access_denied'), state })
    const scopes = (query.get('scope') ?? '').split(/[ ,]+/).filter((scope) => scope !== '')
    return redirect(redirectUri, { code: allow({ person, scopes, redirectUri, challenge }), state })
  }
}

/** The token endpoint; errors have status 200, as GitHub's do. */
export const createTokenEndpoint = ({
  client,
  codes,
  tokens,
}: {
  client: GitHubClient
  codes: Map<string, Code>
  tokens: Map<string, Authorization>
}) => {
  const exchange = (form: URLSearchParams): Record<string, string> => {
    const isClient = form.get('client_id') === client.clientId && form.get('client_secret') === client.clientSecret
    if (!isClient) return refusal('incorrect_client_credentials')
    const code = codes.get(form.get('code') ?? '')
    if (!code || code.expiresAtMs < Date.now()) return refusal('bad_verification_code')
    if ((form.get('redirect_uri') ?? code.redirectUri) !== code.redirectUri) return refusal('redirect_uri_mismatch')
    const challenge = code.challenge === null ? null : s256(form.get('code_verifier') ?? '')
    if (challenge !== code.challenge) return refusal('bad_verification_code')
    codes.delete(form.get('code') ?? '')
    const token = `gho_${randomBytes(27).toString('base64url')}`
    tokens.set(token, code)
    return { access_token: token, scope: code.scopes.join(','), token_type: 'bearer' }
  }
  return ({ form, request }: Asked): Answer => {
    const result = exchange(form)
    if (request.headers.accept?.includes('json')) return json(result)
    return { type: 'application/x-www-form-urlencoded; charset=utf-8', body: String(new URLSearchParams(result)) }
  }
}

const RESOURCES: Record<string, (authorization: Authorization) => Answer> = {
  '/user': ({ person, scopes }) => json(person.user, 200, { 'x-oauth-scopes': scopes.join(', ') }),
  '/user/emails': ({ person, scopes }) =>
    scopes.includes('user:email') || scopes.includes('user') ? json(person.emails) : complaint('Not Found', 404),
}

/** The API, for a client that sends a token and a user agent. */
export const createApi =
  ({ tokens }: { tokens: Map<string, Authorization> }) =>
  ({ path, request }: Asked): Answer => {
    const { authorization = '', 'user-agent': agent } = request.headers
    if (!agent) return page('Request forbidden by administrative rules: it has no User-Agent header.', 403)
    const granted = tokens.get(/^(?:bearer|token) (.+)$/i.exec(authorization)?.[1] ?? '')
    if (!granted) return complaint('Bad credentials', 401)
    const resource = request.method === 'GET' ? RESOURCES[path] : undefined
    return resource?.(granted) ?? complaint('Not Found', 404)
  }
