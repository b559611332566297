import type { IncomingHttpHeaders } from 'node:http'
import type { Fields } from '../../http/body/form.ts'
import type { JsonObject } from '../../http/body/json.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import type { Caller } from '../../lib/caller.ts'
import type { AdministratorRole, AdministratorSession } from '../../administrators/administrator.ts'
import type { AdminAction } from '../policy.ts'

/** The request comes from one of those who may see the pages. */
export interface Operator {
  /** Records name this actor: `admin:NAME`, or `cli` for an operator on this machine. */
  actor: string
  role: AdministratorRole
  /** The name of an administrator; undefined on this machine. */
  name: string | undefined
  /** An administrator has a session in the database. */
  session: AdministratorSession | undefined
  /** This secret of the browser's session is known to nobody else. */
  secret: string
  /** True: a change needs a passkey first. */
  mustProve: boolean
}

/** Handlers see a request through this, with the cookies of its response but no sockets. */
export interface AdminContext {
  readonly requestId: string
  /** The path has no prefix of the door. */
  readonly path: string
  readonly query: Fields
  readonly form: Fields
  readonly json: JsonObject
  /** These are the segments of the path for which the table of routes has `{name}`. */
  readonly parameters: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly device: NonNullable<Caller['device']>
  readonly network: string
  readonly operator: Operator
  /** Forms hold this. */
  readonly csrfToken: string
  /** This is what the last act of this browser has done, if the page is the one that says so. */
  readonly done: string | undefined
  /** Tells whether the role of the operator allows an action. */
  may(action: AdminAction): boolean
  /** Makes the address of a page, with the prefix of the door. */
  readonly at: (path: string) => string
  /** Names the operator for the records, with the reason that they gave. */
  caller(reason?: string): Caller
  /** Stands for the request alone, before it is known who has sent it. */
  anyone(): Caller
  /** This secret of the browser binds what it begins before it has a session. */
  readonly browserSecret: string
  /** Sets the cookie of a new session, or clears it. */
  setSession(secret: string | undefined): void
  /** A page says once what was done. */
  noteDone(path: string, done: string): void
  /** Sends the browser to a page, which says what was done. */
  redirectDone(path: string, done: string): HttpResponse
}

/** Each page that changes something is shown again where it was refused. */
export interface FormRefusal {
  status: number
  message: string
  /** The form field that caused it. */
  field: string | undefined
}

type Handle = (context: AdminContext) => Awaitable<HttpResponse>

interface ReadModule {
  handle: Handle
}

export interface AdminForm {
  show: (context: AdminContext, refusal?: FormRefusal) => Awaitable<HttpResponse>
  act: Handle
}

type Load<Module> = () => Awaitable<Module>

interface Row {
  path: `/${string}`
  /** The row does not exist without the OAuth server. */
  needs?: 'clients'
}

/**
 * THE columns of the table of routes (`routes.ts`). A row that does not name its action does not compile; `none` stands
 * for what is there before anybody has come in.
 */
export type AdminRoute = Row &
  (
    | { method: 'GET'; does: AdminAction | 'none'; module: Load<ReadModule> }
    /** A page with a form, which is sent to the same path, and shown again where it is refused. It needs a passkey first. */
    | { method: 'FORM'; does: AdminAction; module: Load<AdminForm> }
    /** A button, or the script of the passkeys, which sends JSON. */
    | { method: 'POST'; does: AdminAction | 'none'; takesJson?: true; module: Load<ReadModule> }
  )
