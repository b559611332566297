/** The signed-in user, with the fields of `GET /auth/api/v1/user`. */
export interface User {
  /** A UUID; never changes. */
  id: string
  email: string
  username: string
  roles: string[]
  disabled: boolean
  /** ISO 8601, UTC. */
  created_at: string
}

/** Whether parsed JSON is a user. An application that answers in place of svc, by a wrong address, does not say so. */
export const isUser = (value: unknown): value is User => {
  if (typeof value !== 'object' || value === null) return false
  const { id, email, roles } = value as Partial<Record<keyof User, unknown>>
  return typeof id === 'string' && typeof email === 'string' && Array.isArray(roles)
}
