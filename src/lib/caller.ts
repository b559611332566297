/**
 * A caller wants something done. A request is one, as its handlers see it. Without a caller, an operator on the command
 * line or the service itself acts.
 */
export interface Caller {
  /** Clients of one network share turns and places. Clients without a network count as one network. */
  network?: string | undefined
  /** Aborts when the client no longer waits for the result. */
  signal?: AbortSignal | undefined
  /** The page of the request has this language; undefined where there is none. */
  language?: string | undefined
  /** Messages and records name the client by it. */
  device?: { userAgent: string; address: string } | undefined
  /** Records have it: `user`, `api:NAME` of a key of the server API, `admin:NAME` of an administrator, or `cli`. */
  actor?: string | undefined
  /** An operator gave this reason for the act. Records have it. */
  reason?: string | undefined
  /** Records have the id of the request. */
  requestId?: string | undefined
  /** Records have the session that the request came with. */
  session?: { sessionId: string; userId: string } | undefined
}

/** Tells whether the application's backend acts, whose key may be stolen with the application. */
export const isBackend = (caller: Caller | undefined): boolean => caller?.actor?.startsWith('api:') === true

/** Tells whether an operator acts: on the command line, or by the pages of the administration. */
export const isOperator = (caller: Caller | undefined): boolean =>
  caller === undefined || caller.actor === 'cli' || caller.actor?.startsWith('admin:') === true

/**
 * Finds the device of a user who acts themselves; returns undefined if an operator or the application's backend acts.
 */
export const userDeviceOf = (caller: Caller | undefined): Caller['device'] =>
  caller?.actor === undefined || caller.actor === 'user' ? caller?.device : undefined
