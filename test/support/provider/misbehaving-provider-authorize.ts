import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { escapeHtml } from './loopback-provider.ts'
import type { Answer } from './misbehaving-provider-answers.ts'
import type { ClientCheck } from './misbehaving-provider-clients.ts'
import { type Claims, type Fault, callbackWith } from './misbehaving-provider-faults.ts'
import type { Profile } from './misbehaving-provider-profiles.ts'
import type { SigningKey } from './misbehaving-provider-tokens.ts'

export type Asked = {
  tenant: string
  query: URLSearchParams
  form: URLSearchParams
  headers: IncomingHttpHeaders
  /** The user of the browser, if the client is a browser. */
  person: Claims
  isCancelling: boolean
}

/** The current state of the provider that has the endpoints. */
export type Situation = {
  origin: string
  clientId: string
  clientSecret: string
  profile: Profile
  isClient: ClientCheck
  fault: () => Fault
  key: () => SigningKey
}

/** An authorization: the parameters of the request, and the user. */
export type Grant = { person: Claims; asked: URLSearchParams; redirectUri: string; scopes: string[] }

const page = (html: string, status = 200): Answer => ({ status, type: 'text/html; charset=utf-8', body: html })

const answerByForm = (uri: string, parameters: [string, string][]): Answer => {
  const inputs = parameters.map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
  const form = `<form method="post" action="${escapeHtml(uri)}">${inputs.join('')}<button>Continue</button></form>`
  return page(`<!doctype html><title>Signed in</title>${form}<script>document.forms[0].submit()</script>`)
}

const answerByAddress = (uri: string, parameters: [string, string][]): Answer => {
  const url = new URL(uri)
  for (const [name, value] of parameters) url.searchParams.append(name, value)
  return { status: 302, body: '', headers: { location: url.href } }
}

/** The parts of the name, which Apple sends only at the first sign-in of a user. */
const nameParts = ({ name, email }: Claims): string => {
  const [firstName = '', ...lastName] = typeof name === 'string' ? name.split(' ') : []
  return JSON.stringify({ name: { firstName, lastName: lastName.join(' ') }, email })
}

/** The authorization endpoint, which redirects back at once, without a page. */
export const createAuthorize = ({ origin, clientId, profile, fault }: Situation, codes: Map<string, Grant>) => {
  const greeted = new Set<unknown>()
  const nameOnce = (person: Claims): Record<string, string> => {
    if (!profile.answersByForm || greeted.has(person.sub)) return {}
    greeted.add(person.sub)
    return { user: nameParts(person) }
  }
  return ({ query, person, isCancelling }: Asked): Answer => {
    const redirectUri = query.get('redirect_uri')
    if (query.get('client_id') !== clientId || !URL.canParse(redirectUri ?? '')) return page('<h1>Wrong</h1>', 400)
    const scopes = (query.get('scope') ?? '').split(' ')
    const isByForm = query.get('response_mode') === 'form_post'
    const code = randomUUID()
    codes.set(code, { person, asked: query, redirectUri: redirectUri ?? '', scopes })

    const mustBeByForm = profile.answersByForm && scopes.some((scope) => scope === 'name' || scope === 'email')
    const error =
      (mustBeByForm && !isByForm && { code: 'invalid_request', description: 'response_mode must be form_post' }) ||
      (isCancelling && { code: profile.cancelled })
    const current = { ...fault(), ...(error && { error }) }
    const besides = { ...(mustBeByForm && !current.error && nameOnce(person)), ...current.besides }
    const iss = profile.tellsIssuer ? origin : undefined
    const parameters = callbackWith({ code, state: query.get('state'), iss }, { ...current, besides })
    return (isByForm ? answerByForm : answerByAddress)(redirectUri ?? '', parameters)
  }
}
