import type { AuthenticatedKey, Keep, Kept, Scope } from '../api-keys/api-keys.ts'
import type { AccountEventName } from '../lib/account-event.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { AppError } from '../lib/errors.ts'
import type { LimitName } from '../limits/limit-table.ts'
import type { FieldProblem, FormProblem } from './form-view.ts'
import type { AuthenticatedSession } from '../sessions/sessions.ts'
import type { EventFacts } from '../audit/account-log.ts'
import type { RequestContext } from './request-context.ts'
import type { CountEnd } from './request-metrics.ts'
import type { ContentResponse, HttpResponse } from './response.ts'
import { ACCOUNT_PATH } from './step-up.ts'

/** This is a JSON Schema (draft 2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Record<string, unknown>

/** The OpenAPI document describes these headers in one place (`api/openapi/`). */
type UserHeader = `X-Svc-User-${'Sid' | 'Email-Verified' | 'Amr' | 'Auth-Time'}`
export type ResponseHeader = 'Idempotency-Replayed' | 'Retry-After' | 'Set-Cookie' | 'WWW-Authenticate' | UserHeader

/** The OpenAPI document says this about a JSON route. */
export interface Documentation {
  /** The id becomes a function's name in generated clients. */
  operationId: string
  summary: string
  tag: 'Users' | 'Audit' | 'Sessions' | 'Clients' | 'Passkeys' | 'Keys' | 'Operation'
  /** Parameters in the path are described with the path. The server API accepts no other query parameter. */
  parameters?: {
    name: string
    in: 'query' | 'header' | 'cookie'
    required: boolean
    description: string
    schema: Schema
  }[]
  /** The route takes this body, as JSON. */
  body?: { schema: Schema }
  /** The key is the status. If there is no schema, the body is empty. `stream` is that of an event stream in its place. */
  responses: Record<
    number,
    { description: string; schema?: Schema; stream?: Schema; headers?: ResponseHeader[] | undefined }
  >
}

/** This says why a form was refused. */
export interface Refusal {
  /** The key is the field name. */
  errors: Record<string, FieldProblem>
  problem: FormProblem | undefined
}

/** Gives the module of a route, which most routes load with the first request for them. */
type Load<Module> = () => Awaitable<Module>

type Handle<Credential extends unknown[] = []> = (
  context: RequestContext,
  ...credential: Credential
) => Awaitable<HttpResponse>

interface PageModule<Credential extends unknown[] = []> {
  show: Handle<Credential>
}

export interface FormModule<Credential extends unknown[] = []> {
  act: Handle<[...Credential, attempt: FormAttempt]>
  /**
   * Makes the page of a refused form, from what was typed, except passwords. It changes nothing. It is called without
   * `act` if the CSRF token alone is not good.
   */
  showAgain?: ShowAgain<Credential>
}

export type ShowAgain<Credential extends unknown[] = []> = (
  context: RequestContext,
  refusal: Refusal,
  ...credential: Credential
) => Awaitable<string>

/** This is known of an attempt before it is made: its facts, and what differs from the row of the form. */
export interface Attempted<Checked> extends Partial<EventFacts> {
  /** Runs before anything is recorded or limited; its failure is counted, and shows the form again. */
  check?: () => Awaitable<Checked>
  limits?: FormLimits
  /** Finds the email that is tried, after the check. The record and the limits go by it. */
  findEmail?: () => Awaitable<string>
  /** Logins are counted under this username, if it was entered in place of the email. */
  username?: string | undefined
  /** The logins of this email are limited, with the limits `login`. It is the email that is tried if left out. */
  loginOf?: string
  outcome?: CountEnd
  /** Answers a refusal with something other than the form. */
  instead?: (refused: AppError) => Awaitable<HttpResponse | undefined>
}

/**
 * Runs what a form asks for, in an attempt that is counted, recorded and limited, from outside in. A refusal that the
 * user can correct shows the form again, with the status of the refusal; other errors are thrown.
 */
export type FormAttempt = <Checked = undefined>(
  about: Attempted<Checked>,
  action: RunAttempt<Checked>,
) => Promise<HttpResponse>

/** Completes the facts of the attempt. */
export type RunAttempt<Checked> = (facts: EventFacts, checked: Checked) => Promise<HttpResponse>

interface DocumentedModule<Answer> {
  documentation: Documentation
  handle: Answer
}

/**
 * A `GET` route answers `HEAD` too. It answers it with 405 if it changes something: previews of links send it (RFC
 * 9110, 9.2.1).
 */
type ReadMethod = { method: 'GET'; isSafe?: false }

/**
 * Each `POST` says how it is protected from other sites: a CSRF token protects it. `changes_nothing` is for a `POST`
 * that only redirects the browser to a `GET`, or does not exist.
 */
type FormMethod = { method: 'POST'; csrf: 'token' | 'changes_nothing' }

/**
 * These columns say how an attempt of a form is recorded, limited and counted (`form-runner.ts`), if `act` does not say
 * it.
 */
export interface FormColumns {
  event?: AccountEventName
  limits?: FormLimits
  outcome?: 'login' | 'signup'
}

/** These are limits of the user or of the network, or the limits of logins with a password. */
type FormLimits = readonly LimitName[] | 'login'

/**
 * `isShownOnce` means that the address is good once: no page leads back there. `holdsToken` means that the address, or a field, is the token of a link, which must not
 * get into any `Referer`.
 */
type PageColumns = { responseKind: 'html'; holdsToken?: true; isShownOnce?: true }

/** `answersScripts` means that a request that accepts JSON and no page gets its errors in JSON. */
export type FormRoute<Credential extends unknown[]> = PageColumns &
  FormMethod &
  FormColumns & { answersScripts?: true; module: Load<FormModule<Credential>> }

export type PageRoute<Credential extends unknown[]> =
  | (PageColumns & ReadMethod & { module: Load<PageModule<Credential>> })
  | FormRoute<Credential>

/** `takesJson` means that the body of a `POST` is JSON. */
type JsonRow<Credential extends unknown[]> = { responseKind: 'json'; takesJson?: true } & (ReadMethod | FormMethod) & {
    module: Load<DocumentedModule<Handle<Credential>>>
  }

/**
 * This is a question of a proxy about a request of another application. Every method is answered alike: the handler
 * changes nothing, and no body is read. No response sets a cookie. An error is JSON, or a page if the proxy shows it to
 * people. `refuse` answers a request that has no valid access token, in place of the error.
 */
interface CheckRow {
  responseKind: 'check'
  method: 'ANY'
  isShownToPeople: IsShownToPeople
  module: Load<{
    handle: Handle<[session: AuthenticatedSession]>
    refuse: (context: RequestContext, error: AppError) => HttpResponse
  }>
}

type IsShownToPeople = (context: RequestContext) => boolean

type AssetRow = { responseKind: 'asset' } & ReadMethod & { module: Load<{ handle: Handle }> }

/**
 * This is a route for clients of the OAuth server. No cookie is looked at, and its errors are those of RFC 6749. A body
 * is a form, or JSON (`takesJson`).
 */
type OAuthRow = { responseKind: 'oauth'; takesJson?: true } & (
  | ReadMethod
  | { method: 'POST'; csrf: 'no_cookie' }
  | { method: 'OPTIONS' }
) & { module: Load<{ handle: Handle }> }

/**
 * The guard says which clients may send the request. `access_token`: a client with a valid access token, else 401.
 * `refresh_token`: a client with a refresh token, which the handler checks, else 401. `session`: a signed-in user,
 * whose session is renewed if needed; all others are redirected to the login page.
 */
type KeylessRow =
  | ({ guard: 'none' } & (PageRoute<[]> | JsonRow<[]> | AssetRow | OAuthRow))
  | ({
      guard: 'session'
      /** Names the page for a user who must log in first. It is the account page when left out. */
      returnAfterLogin?: (context: RequestContext) => string
    } & PageRoute<[session: AuthenticatedSession]>)
  | ({ guard: 'access_token' } & (JsonRow<[session: AuthenticatedSession]> | CheckRow))
  | ({ guard: 'refresh_token' } & JsonRow<[refreshToken: string]>)

/**
 * This is a route of the server API. The guard `api_key` accepts a client with an API key that has the scope. No cookie
 * is looked at, so that no other site can use what a browser holds. One transaction stores what a `POST` does and its
 * response (`Keep`).
 */
type KeyRow = { guard: 'api_key'; scope: Scope; responseKind: 'json' } & (
  | (ReadMethod & { module: Load<DocumentedModule<HandleWithKey>> })
  | { method: 'PATCH' | 'DELETE'; csrf: 'api_key'; module: Load<DocumentedModule<HandleWithKey>> }
  | { method: 'POST'; csrf: 'api_key'; module: Load<DocumentedModule<HandleOnce>> }
)

type HandleWithKey = Handle<[key: AuthenticatedKey]>

type HandleOnce = (
  context: RequestContext,
  key: AuthenticatedKey,
  keep: Keep<ContentResponse>,
) => Promise<Kept<ContentResponse>>

/** `{name}` in a path stands for one segment (`RequestContext.parameters`). */
export type Route = {
  path: `/auth${string}` | `/.well-known/${string}/auth` | '/'
  /** The route is requested so often that its successes are logged only at `debug`. */
  frequent?: true
  /** The row stands for its path and for every path below it. */
  isPrefix?: true
  /** Pages of any origin may read its responses. */
  anyOrigin?: boolean
  /** The route does not exist if this setting is off. */
  needs?:
    | 'usernames'
    | 'names'
    | 'passwords'
    | 'email_sign_in'
    | 'passwords_or_mail'
    | 'passkeys'
    | 'clients'
    | 'registration'
} & (KeylessRow | KeyRow)

export type KeyRoute = Extract<Route, { guard: 'api_key' }>
export type KeylessRoute = Exclude<Route, KeyRoute>
export type JsonRoute = Extract<Route, { responseKind: 'json' }>

export type ResponseKind = Route['responseKind']

/** Names the page for a user who must log in before a request. */
export const returnAfterLogin = (route: Route, context: RequestContext): string =>
  (route.guard === 'session' && route.returnAfterLogin?.(context)) || ACCOUNT_PATH

/** `Allow` names these for every method. */
const USUAL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Lists the methods that a route answers. A route with `GET` answers `HEAD` too, unless the `GET` changes something.
 */
export const methodsOf = (route: Route): string[] => {
  if (route.method === 'ANY') return USUAL_METHODS
  if (route.method !== 'GET') return [route.method]
  return route.isSafe === false ? ['GET'] : ['GET', 'HEAD']
}

/** This is the route of a request, as far as it is known. */
export interface Destination {
  /** The path is as in the table of routes. It is undefined for a path that is not in it. */
  path: string | undefined
  responseKind: ResponseKind
  frequent?: boolean | undefined
  holdsToken?: boolean | undefined
  isShownOnce?: boolean | undefined
  answersScripts?: boolean | undefined
  isShownToPeople?: IsShownToPeople | undefined
  guard?: Route['guard'] | undefined
  anyOrigin?: boolean | undefined
}
