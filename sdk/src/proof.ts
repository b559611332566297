/** What a user has proved to svc when they signed in or confirmed who they are, and when. */
export interface Proof {
  /** Values of RFC 8176, such as `['pwd', 'otp', 'mfa']`; empty where svc does not know. */
  amr: string[]
  /** In seconds since 1970, as the claim `auth_time`; undefined where svc does not know. */
  authTime: number | undefined
}

/** The same as claims of an access token, which leave out what is not known. */
interface ProofClaims {
  amr?: readonly string[] | undefined
  auth_time?: number | undefined
}

/** svc accepts a proof of the last ten minutes: who asks for a newer one sends the user in a circle. */
const SHORTEST_AGE_SECONDS = 600
/** By how much the clocks of two machines may differ. */
const LEEWAY_SECONDS = 60

// Where nothing is known, svc sends a hyphen, which is no value and no number.
const textOf = (headers: Headers, name: string): string => (headers.get(name) ?? '').replace(/^-$/, '')

/** The proof in the headers of an answer to `GET /auth/api/v1/user`; an old version of svc sends none. */
export const proofOf = (headers: Headers): Proof => {
  const amr = textOf(headers, 'x-svc-user-amr')
  const time = textOf(headers, 'x-svc-user-auth-time')
  return { amr: amr === '' ? [] : amr.split(','), authTime: time === '' ? undefined : Number(time) }
}

export interface MfaOptions {
  /** How old the proof may be, in seconds; at least 600. Left out: as old as the session. */
  maxAge?: number | undefined
}

/**
 * Whether a user, or the owner of an access token, has proved more than one factor. Throws a `TypeError` for a `maxAge`
 * that svc cannot meet.
 */
export const hasMfa = (who: Partial<Proof> | ProofClaims, { maxAge }: MfaOptions = {}): boolean => {
  if (maxAge !== undefined && !(maxAge >= SHORTEST_AGE_SECONDS)) {
    throw new TypeError(`maxAge must be a number of seconds of at least ${SHORTEST_AGE_SECONDS}`)
  }
  // The text of a header is no list, and would have it as a part of any word.
  if (!Array.isArray(who.amr) || !who.amr.includes('mfa')) return false
  if (maxAge === undefined) return true
  const time = 'authTime' in who ? who.authTime : (who as ProofClaims).auth_time
  return time !== undefined && Date.now() / 1000 - time <= maxAge + LEEWAY_SECONDS
}
