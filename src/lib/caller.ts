/**
 * Who wants something done, and from where. A request is one, as its handlers see it. Without a caller, an operator on
 * the command line or the service itself acts.
 */
export interface Caller {
  /** Clients of one network share turns and places. Clients without a network count as one network. */
  network?: string | undefined
  /** Aborts when the client no longer waits for the result. */
  signal?: AbortSignal | undefined
  /** Where the client is, for messages and records of what it did. */
  device?: { userAgent: string; address: string } | undefined
  /** For records: `user`, or `api:NAME` of a key of the server API. */
  actor?: string | undefined
  /** The id of the request, for records. */
  requestId?: string | undefined
  /** The session that the request came with, for records. */
  session?: { sessionId: string; userId: string } | undefined
}

/** Where the user is who acts themselves; undefined where an operator or the application's backend does. */
export const userDeviceOf = (caller: Caller | undefined): Caller['device'] =>
  caller?.actor === undefined || caller.actor === 'user' ? caller?.device : undefined
