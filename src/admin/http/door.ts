import type { AdminContext, Operator } from './context.ts'

/** A browser comes to the pages through a door: on the operator's machine, or at `SVC_ADMIN_URL`. */
export interface Door {
  kind: 'machine' | 'origin'
  /** The pages have this origin, and no other. */
  readonly origin: string
  /** It is the host of the origin, as in the header `Host`. */
  readonly host: string
  /** All paths begin with it. It has no slash at its end, and is empty at `SVC_ADMIN_URL`. */
  base: string
  /** Finds out who a request comes from, by the cookie of the session. Without a session, nobody. */
  findOperator(secret: string): Promise<Operator | undefined>
  /** Checks the passkey that a form brings, and remembers the proof. Throws an error of the field `passkey_response`. */
  prove(operator: Operator, context: AdminContext): Promise<void>
}

/** The names of the cookies. */
export interface AdminCookies {
  session: string
  /** A browser has it before it has a session. */
  browser: string
  /** It says what was done last. */
  done: string
}

export const cookieNamesOf = (kind: Door['kind']): AdminCookies => {
  // A browser takes it from this very host alone, over https, and for every path (RFC 6265bis section 4.1.3.2).
  const prefix = kind === 'origin' ? '__Host-' : ''
  return { session: `${prefix}svc_admin`, browser: `${prefix}svc_admin_browser`, done: `${prefix}svc_admin_done` }
}
