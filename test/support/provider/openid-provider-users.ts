import { randomUUID } from 'node:crypto'

/** A user of an OpenID provider: the claims about them. */
export type OpenIdUser = {
  sub: string
  email?: string
  email_verified?: boolean
  preferred_username?: string
  name?: string
}

/** A new user with a verified email; `known` overrides properties. */
export const newOpenIdUser = (known: Partial<OpenIdUser> = {}): OpenIdUser => {
  const id = randomUUID().replaceAll('-', '').slice(0, 12)
  return {
    sub: randomUUID(),
    email: `o${id}@example.com`,
    email_verified: true,
    preferred_username: `o${id}`,
    name: `Person ${id}`,
    ...known,
  }
}
