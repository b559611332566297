/** `svc dev` begins with these users. */
export interface DevUser {
  email: string
  password: string
  roles: string[]
}

export const DEV_USERS: readonly DevUser[] = [
  { email: 'ada@example.com', password: 'ada likes numbers', roles: [] },
  { email: 'grace@example.com', password: 'grace finds bugs', roles: ['admin'] },
]

/** The settings of the provider, as those of any other stand in the environment. */
export const DEV_PROVIDER = { name: 'dev', label: 'Dev Provider', clientId: 'svc-dev', clientSecret: 'svc-dev' }

/**
 * It has no port, and leads nowhere: accounts are connected to it, in a kept folder from one start to the next. Requests
 * for it are answered within the process.
 */
export const ISSUER = 'http://localhost/auth/dev/provider'
