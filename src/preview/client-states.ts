import type { Client } from '../clients/client.ts'
import type { HttpResponse } from '../http/response.ts'
import type { ConsentView } from '../web/authorize/consent-page.ts'
import type { AuthorizeProblem } from '../web/authorize/problem-page.ts'
import type { AllPages } from './pages.ts'
import type { Sample } from './sample.ts'

const HTTPS = 'https://app.example.net/callback'
const LOOPBACK = 'http://127.0.0.1:50123/callback'
const OWN_SCHEME = 'com.example.notes:/callback'
const DOCUMENT = 'https://agent.example/client.json'
/** The longest host that there can be, and the widest. */
const LONG_HOST = `${`${'w'.repeat(60)}.`.repeat(4)}example`

const PROBLEMS: AuthorizeProblem[] = [
  'client_missing',
  'client_unknown',
  'redirect_missing',
  'redirect_unknown',
  'parameter_repeated',
  'request_expired',
  'request_other_browser',
  'request_unreadable',
]

const bodyOf = (response: HttpResponse): string => ('body' in response ? response.body : '')

/** The pages on the way of a client's request in every state, by name, with a sample of what others write. */
export const clientStatesOf = (it: Sample): Record<string, (pages: AllPages) => string> => {
  const { text } = it
  const client = { id: text, kind: 'operator' as const, name: it.application }
  const view: ConsentView = {
    kind: 'consent',
    csrfToken: text,
    client,
    redirectUri: HTTPS,
    email: it.email,
    scopes: [text, text],
    lasts: text,
    resource: 'https://notes.example.com/mcp',
    request: text,
    returnTo: text,
  }
  const registered = { ...view, client: { ...client, kind: 'registered' as const }, redirectUri: LOOPBACK }
  const document = { ...client, kind: 'document' as const, id: DOCUMENT }
  const views: Record<string, ConsentView> = {
    'of the operator’s client': view,
    'of a loopback': { ...view, redirectUri: LOOPBACK },
    'of a scheme': { ...view, redirectUri: OWN_SCHEME },
    'of a registered client': registered,
    'of a document': { ...view, client: document, redirectUri: LOOPBACK },
    'of a document that leads to its host': { ...view, client: document, redirectUri: 'https://agent.example/back' },
    'without scopes': { ...view, scopes: [], resource: undefined },
    'for twenty scopes': { ...view, scopes: Array.from({ length: 20 }, () => text) },
    'with long names': {
      ...registered,
      client: { ...document, id: `https://${LONG_HOST}/client`, name: `${text}${'W'.repeat(60)}` },
      redirectUri: OWN_SCHEME,
      resource: `https://${LONG_HOST}:8443/`,
    },
    'to continue': { ...view, kind: 'continue', redirectUri: LOOPBACK },
    refused: { ...view, problem: { kind: 'too_many_attempts', retryAfterSeconds: 95, requestId: 'r-1' } },
  }
  const consents = Object.entries(views).map(([name, shown]): [string, (pages: AllPages) => string] => [
    `consent ${name}`,
    (pages) => pages.consent(shown),
  ])
  const problems = PROBLEMS.map((problem): [string, (pages: AllPages) => string] => [
    `a request that leads nowhere: ${problem}`,
    (pages) => bodyOf(pages.authorizeProblem(problem, 'r-1')),
  ])
  const back = (redirectUri: string) => (pages: AllPages) =>
    bodyOf(pages.answerClient({ client: client as Client, redirectUri, state: text }, { code: 'svc_ac_x' }, 'pages'))
  const logout = { csrfToken: text, email: it.email, name: text, query: text }
  return {
    ...Object.fromEntries([...consents, ...problems]),
    'back to a client': back(HTTPS),
    'back to a program': back(LOOPBACK),
    'back to an app by its scheme': back(OWN_SCHEME),
    'logout for a client': (pages) => pages.clientLogout(logout),
    'logout for nobody known': (pages) => pages.clientLogout({ ...logout, name: undefined }),
    'logged out for a client': (pages) =>
      pages.clientLogout({ csrfToken: text, done: { returnUri: HTTPS, name: text } }),
    'logged out for nobody known': (pages) =>
      pages.clientLogout({ csrfToken: text, done: { returnUri: undefined, name: '' } }),
  }
}
