import type { AuthenticatedSession } from '../sessions/sessions.ts'
import type { HttpResponse, RequestContext } from './request-context.ts'

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Record<string, unknown>

/** Headers that the OpenAPI document describes in one place (`openapi.ts`). */
export type ResponseHeader = 'Retry-After' | 'Set-Cookie' | 'WWW-Authenticate'

/** What a JSON route says of itself in the OpenAPI document. */
export interface Documentation {
  /** Becomes a function's name in generated clients. */
  operationId: string
  summary: string
  tag: 'Users' | 'Sessions' | 'Keys' | 'Operation'
  parameters?: {
    name: string
    in: 'query' | 'header' | 'cookie'
    required: boolean
    description: string
    schema: Schema
  }[]
  /** By status; without a schema the body is empty. */
  responses: Record<number, { description: string; schema?: Schema; headers?: ResponseHeader[] }>
}

/** How a route answers, its failures included. */
type Speech = { speaks: 'html' } | { speaks: 'json'; documentation: Documentation } | { speaks: 'asset' }

/**
 * Every state-changing route says how it is protected from other sites. There is one way. `changes_nothing` is for what
 * only sends the browser on to a `GET`.
 */
type Method = ReadMethod | { method: 'POST'; csrf: 'token' | 'changes_nothing' }

/**
 * Where a `GET` is answered, `HEAD` is too. `isSafe: false` marks the `GET` that changes something (RFC 9110 section
 * 9.2.1): what only looks, such as a preview of a link, gets 405 for its `HEAD`.
 */
type ReadMethod = { method: 'GET'; isSafe?: false }

type Awaitable<T> = T | Promise<T>

/**
 * Who may come. `access_token`: who has a good one, else 401. `refresh_token`: who brings one, good or not, else 401.
 * `session`: who is signed in, renewed on the way if need be; anybody else is sent to the login page.
 */
type Guard =
  | { guard: 'none'; answer: (context: RequestContext) => Awaitable<HttpResponse> }
  | {
      guard: 'access_token'
      answer: (context: RequestContext, signedIn: AuthenticatedSession) => Awaitable<HttpResponse>
    }
  | { guard: 'refresh_token'; answer: (context: RequestContext, refreshToken: string) => Awaitable<HttpResponse> }
  | { guard: 'session'; answer: (context: RequestContext, signedIn: AuthenticatedSession) => Awaitable<HttpResponse> }

export type Route = { path: `/auth${string}` } & Method &
  Guard &
  Speech & {
    /** Asked so often that its successes are logged at level `debug` only. */
    frequent?: true
  }

/** The route that a request went to, as far as it is known. */
export interface Destination {
  /** As the table of routes has it; undefined for what is not in the table. */
  path: string | undefined
  speaks: Route['speaks']
  frequent?: boolean | undefined
}
