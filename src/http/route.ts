import type { AuthenticatedKey, Keep, Kept, Scope } from '../api-keys/api-keys.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { AppError } from '../lib/errors.ts'
import type { AuthenticatedSession } from '../sessions/sessions.ts'
import type { Refusal } from './form-problems.ts'
import type { RequestContext } from './request-context.ts'
import type { ContentResponse, HttpResponse } from './response.ts'

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Record<string, unknown>

/** Headers that the OpenAPI document describes in one place (`openapi.ts`). */
type UserHeader = `X-Svc-User-${'Sid' | 'Email-Verified' | 'Amr' | 'Auth-Time'}`
export type ResponseHeader = 'Idempotency-Replayed' | 'Retry-After' | 'Set-Cookie' | 'WWW-Authenticate' | UserHeader

/** What the OpenAPI document says about a JSON route. */
export interface Documentation {
  /** Becomes a function's name in generated clients. */
  operationId: string
  summary: string
  tag: 'Users' | 'Audit' | 'Sessions' | 'Passkeys' | 'Keys' | 'Operation'
  /** Those in the path are described with the path. Of the server API, no other query parameter is accepted. */
  parameters?: {
    name: string
    in: 'query' | 'header' | 'cookie'
    required: boolean
    description: string
    schema: Schema
  }[]
  /** The body that the route takes, as JSON. */
  body?: { schema: Schema }
  /** By status; without a schema the body is empty. */
  responses: Record<number, { description: string; schema?: Schema; headers?: ResponseHeader[] | undefined }>
}

/**
 * The kind of the route's responses, its errors included. `documentation` is a function where it is loaded with the
 * handler. `takesJson`: the body of a `POST` is JSON. `holdsToken`: the address of the page, or a field of it, is
 * the token of a link, which must not get into any `Referer`. `check`: what a proxy asks for about a request of another
 * application, which `isShownToPeople` where a browser navigates and the proxy passes the response on. No response of this kind sets a cookie; an error is JSON, or a page where the proxy shows it to people.
 * `answersScripts`: a request that accepts JSON and no page gets its errors in JSON.
 */
type Kind =
  | { responseKind: 'html'; holdsToken?: true; answersScripts?: true }
  | { responseKind: 'json'; documentation: Documentation | (() => Promise<Documentation>); takesJson?: true }
  | { responseKind: 'asset' }
  | { responseKind: 'check'; isShownToPeople: IsShownToPeople }

type IsShownToPeople = (context: RequestContext) => boolean

/**
 * Each `POST` says how it is protected from other sites: by a CSRF token. `changes_nothing` is for a `POST` that only
 * redirects the browser to a `GET`, or does not exist.
 */
type Method = ReadMethod | { method: 'POST'; csrf: 'token' | 'changes_nothing' } | AnyMethod

/** A `GET` route answers `HEAD` too, with 405 where it changes something: previews of links send it (RFC 9110, 9.2.1). */
type ReadMethod = { method: 'GET'; isSafe?: false }

/** Every method, all answered alike: the handler changes nothing, and no body is read. */
type AnyMethod = { method: 'ANY' }

type Handle<Credential extends unknown[] = []> = (
  context: RequestContext,
  ...credential: Credential
) => Awaitable<HttpResponse>

/**
 * Makes the page of a refused form, from what was typed, but for passwords. It is called in place of the handler of a
 * `POST` whose CSRF token alone is not good, and changes nothing.
 */
export type ShowAgain<Credential extends unknown[] = []> = (
  context: RequestContext,
  refusal: Refusal,
  ...credential: Credential
) => Awaitable<string>

/** Answers a request without a valid access token in place of the error. */
type Refuse = (context: RequestContext, error: AppError) => HttpResponse

/**
 * Who may send the request. `access_token`: a client with a valid access token, else 401. `refresh_token`: a client
 * with a refresh token, which the handler checks, else 401. `session`: a signed-in user, whose session is renewed where
 * needed; all others are redirected to the login page.
 */
type Guard =
  | { guard: 'none'; handle: Handle; showAgain?: ShowAgain }
  | { guard: 'session'; handle: Handle<[session: AuthenticatedSession]>; showAgain?: ShowAgain<[AuthenticatedSession]> }
  | { guard: 'access_token'; handle: Handle<[session: AuthenticatedSession]>; refuse?: Refuse }
  | { guard: 'refresh_token'; handle: Handle<[refreshToken: string]> }

/**
 * A route of the server API. `api_key`: a client with an API key that has the scope. No cookie is looked at, so that no
 * other site can use what a browser holds. What a `POST` does and its response are stored in one transaction (`Keep`).
 */
type KeyGuard = { guard: 'api_key'; scope: Scope; responseKind: 'json' } & (
  | (ReadMethod & { handle: Handle<[key: AuthenticatedKey]> })
  | { method: 'PATCH' | 'DELETE'; csrf: 'api_key'; handle: Handle<[key: AuthenticatedKey]> }
  | { method: 'POST'; csrf: 'api_key'; handle: HandleOnce }
)

type HandleOnce = (
  context: RequestContext,
  key: AuthenticatedKey,
  keep: Keep<ContentResponse>,
) => Promise<Kept<ContentResponse>>

/** `{name}` in a path stands for one segment (`RequestContext.parameters`). */
export type Route = { path: `/auth${string}` | '/' } & ((Method & Guard) | KeyGuard) &
  Kind & {
    /** Requested so often that its successes are logged at `debug` only. */
    frequent?: true
    /** The row stands for its path and for every path below it. */
    isPrefix?: true
    /** With `session`: where a user goes who must log in first; the account page when left out. */
    returnAfterLogin?: (context: RequestContext) => string
    /** The setting without which the route does not exist (`switched-off.ts`). */
    needs?: 'usernames' | 'passwords' | 'passkeys'
  }

export type KeyRoute = Extract<Route, { guard: 'api_key' }>
export type KeylessRoute = Exclude<Route, KeyRoute>
export type JsonRoute = Extract<Route, { responseKind: 'json' }>

/** What the document says about a route, loaded if need be. */
export const documentationOf = async ({ documentation }: JsonRoute): Promise<Documentation> =>
  typeof documentation === 'function' ? documentation() : documentation

export type ResponseKind = Route['responseKind']

/** What `Allow` names for every method. */
const USUAL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The methods that a route answers: with `GET`, `HEAD` too, unless the `GET` changes something. */
export const methodsOf = (route: Route): string[] => {
  if (route.method === 'ANY') return USUAL_METHODS
  if (route.method !== 'GET') return [route.method]
  return route.isSafe === false ? ['GET'] : ['GET', 'HEAD']
}

/** The route of a request, as far as it is known. */
export interface Destination {
  /** As in the table of routes; undefined for a path that is not in it. */
  path: string | undefined
  responseKind: ResponseKind
  frequent?: boolean | undefined
  holdsToken?: boolean | undefined
  answersScripts?: boolean | undefined
  isShownToPeople?: IsShownToPeople | undefined
  guard?: Route['guard'] | undefined
}
