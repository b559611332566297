import type { AuthenticatedSession } from '../../sessions/sessions.ts'

/** The list alternates between names and values. */
type Headers = readonly string[]

/**
 * These headers tell an application which user is signed in. `remote` adds the headers that other software knows
 * already.
 */
export const userHeadersOf = (session: AuthenticatedSession, remote: boolean): Headers => {
  const headers = ownHeadersOf(session)
  return remote ? [...headers, ...remoteHeadersOf(session)] : headers
}

/** Makes the headers once for each row: they live as long as the row is cached. */
const onceForEach = (make: (session: AuthenticatedSession) => Headers): typeof make => {
  const made = new WeakMap<AuthenticatedSession, Headers>()
  return (session) => {
    const known = made.get(session)
    if (known) return known
    const headers = make(session)
    made.set(session, headers)
    return headers
  }
}

const ownHeadersOf = onceForEach((session) => [
  'x-svc-user-id',
  session.userId,
  'x-svc-user-email',
  toHeaderValue(session.email),
  'x-svc-user-username',
  toHeaderValue(session.username),
  ...(session.name === undefined ? [] : ['x-svc-user-name', nameOf(session.name)]),
  'x-svc-user-roles',
  rolesOf(session),
  'x-svc-user-email-verified',
  String(session.emailVerified),
  'x-svc-user-amr',
  amrOf(session),
])

/**
 * These headers stand beside the user as JSON: the session, as the claim `sid`, and the proofs, and their time, in
 * seconds since 1970.
 */
export const sessionHeadersOf = onceForEach((session) => [
  'x-svc-user-sid',
  session.sessionId,
  'x-svc-user-email-verified',
  String(session.emailVerified),
  'x-svc-user-amr',
  amrOf(session),
  'x-svc-user-auth-time',
  session.authenticatedAtMs === undefined ? '-' : String(Math.floor(session.authenticatedAtMs / 1000)),
])

const remoteHeadersOf = (session: AuthenticatedSession): Headers => [
  'remote-user',
  toHeaderValue(session.username),
  'remote-email',
  toHeaderValue(session.email),
  'remote-name',
  toHeaderValue(session.username),
  'remote-groups',
  rolesOf(session),
]

/**
 * The text is never empty: some proxies pass the header of the client on if the response has none. No role is called
 * `-`.
 */
const rolesOf = ({ roles }: AuthenticatedSession): string => toHeaderValue(roles.join(',')) || '-'

/** The text is never empty, for the same reason. A user who is called `-` has that encoded. */
const nameOf = (name: string | null): string => {
  if (name === null) return '-'
  return name === '-' ? '%2D' : toHeaderValue(name)
}

/**
 * The text is never empty, for the same reason. The proofs of a session that began before svc kept them are not known.
 */
const amrOf = ({ amr }: AuthenticatedSession): string => amr.join(',') || '-'

const NOT_PLAIN = /[^\x20-\x24\x26-\x7e]+/g

/**
 * The result is printable ASCII, in which `%`, control characters and all other characters are percent-encoded UTF-8.
 */
const toHeaderValue = (text: string): string => text.toWellFormed().replaceAll(NOT_PLAIN, encodeURIComponent)
