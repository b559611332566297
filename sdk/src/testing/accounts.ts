import { randomUUID } from 'node:crypto'
import type { Admin } from '../admin.ts'
import type { Account } from '../user.ts'

/** What is left out is made up. */
export interface NewUser {
  email?: string
  username?: string
  /** With `SVC_NAMES` only; not made up. */
  name?: string
  password?: string
  roles?: string[]
  /** True by default. */
  emailVerified?: boolean
  /** False by default. */
  disabled?: boolean
}

/** A user with the password, so that a test can sign in. */
export interface TestUser extends Account {
  password: string
}

/** A cookie in the form of Playwright's `context.addCookies`. */
export interface SignInCookie {
  name: string
  value: string
  domain: string
  path: string
  /** Seconds since 1970; -1 for a cookie that ends with the browser. */
  expires: number
  httpOnly: boolean
  secure: boolean
  sameSite: 'Lax' | 'Strict' | 'None'
}

export interface SignedIn {
  /** The header `Cookie` of requests to the application. */
  cookie: string
  /** All cookies, for a browser. */
  cookies: SignInCookie[]
}

/** Creates an account by the server API. */
export const createUser = async ({ users }: Admin, given: NewUser): Promise<TestUser> => {
  const { email = `user-${randomUUID()}@example.com`, password = `password ${randomUUID()}`, disabled = false } = given
  const { username, name, roles = [], emailVerified = true } = given
  const names = { ...(username !== undefined && { username }), ...(name !== undefined && { name }) }
  const made = await users.create({ email, password, roles, ...names, email_verified: emailVerified })
  if (disabled) await users.update(made.id, { disabled })
  const { id, created_at } = made
  return {
    id,
    email,
    username: made.username,
    ...(made.name !== undefined && { name: made.name }),
    roles,
    disabled,
    created_at,
    password,
  }
}

const readCookie = (line: string, domain: string): SignInCookie => {
  const [pair = '', ...rest] = line.split(/;\s*/)
  const attributes = new Map(
    rest.map((text): [string, string] => {
      const [name = '', value = ''] = text.split('=')
      return [name.toLowerCase(), value]
    }),
  )
  const maxAge = attributes.get('max-age')
  const separator = pair.indexOf('=')
  return {
    name: pair.slice(0, separator),
    value: pair.slice(separator + 1),
    domain,
    path: attributes.get('path') ?? '/',
    expires: maxAge === undefined ? -1 : Math.floor(Date.now() / 1000) + Number(maxAge),
    httpOnly: attributes.has('httponly'),
    secure: attributes.has('secure'),
    sameSite: (attributes.get('samesite') ?? 'Lax') as SignInCookie['sameSite'],
  }
}

/** Reads the cookies of a sign-in. `domain` is the host that the browser sees. */
export const readSignIn = async (answer: Response, domain: string): Promise<SignedIn> => {
  const { cookie } = (await answer.json()) as { cookie: string }
  return { cookie, cookies: answer.headers.getSetCookie().map((line) => readCookie(line, domain)) }
}
