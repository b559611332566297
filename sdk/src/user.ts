import { type Proof, proofOf } from './proof.ts'

/** The fields of an account, as svc writes them. */
export interface Account {
  /** A UUID; never changes. */
  id: string
  email: string
  username: string
  /** The name of the person; null: none is known. Undefined with `SVC_NAMES=off`. */
  name?: string | null
  roles: string[]
  disabled: boolean
  /** ISO 8601, UTC. */
  created_at: string
}

/** The signed-in user: the fields of `GET /auth/api/v1/user`, how they have signed in, and what svc says beside it. */
export interface User extends Account, Proof {
  /** The session, as the claim `sid`; undefined where svc does not say. */
  sid: string | undefined
  /** Whether it was ever proved that the email is the user's; undefined where svc does not say. */
  emailVerified: boolean | undefined
}

/** Whether parsed JSON is an account. An application that answers in place of svc, by a wrong address, does not say so. */
const isAccount = (value: unknown): value is Account => {
  if (typeof value !== 'object' || value === null) return false
  const { id, email, roles } = value as Partial<Record<keyof Account, unknown>>
  return typeof id === 'string' && typeof email === 'string' && Array.isArray(roles)
}

const readBoolean = (text: string | null): boolean | undefined => (text === null ? undefined : text === 'true')

/** The user of an answer to `GET /auth/api/v1/user`; undefined where the body is none. */
export const toUser = (value: unknown, headers: Headers): User | undefined =>
  isAccount(value)
    ? {
        ...value,
        sid: headers.get('x-svc-user-sid') ?? undefined,
        emailVerified: readBoolean(headers.get('x-svc-user-email-verified')),
        ...proofOf(headers),
      }
    : undefined
