import { randomUUID } from 'node:crypto'
import type { Admin } from '../admin.ts'
import type { Account } from '../user.ts'
import { runSvc, type SvcCommand } from './svc-process.ts'

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

interface Creation {
  command: Omit<SvcCommand, 'args'>
  admin: () => Promise<Admin>
}

/** Creates an account: with a verified email as `svc users create` does, another one by the server API. */
export const createUser = async ({ command, admin }: Creation, given: NewUser): Promise<TestUser> => {
  const { email = `user-${randomUUID()}@example.com`, password = `password ${randomUUID()}` } = given
  const user = { ...given, email, password }
  const account =
    given.emailVerified === false ? await createUnverified(await admin(), user) : await create(command, user)
  if (given.disabled) await runSvc({ ...command, args: ['users', 'disable', account.id] })
  return { ...account, password, disabled: given.disabled ?? false }
}

type WholeUser = NewUser & { email: string; password: string }

const createUnverified = async (admin: Admin, user: WholeUser): Promise<Account> => {
  const { email, password, username, name, roles = [] } = user
  const names = { ...(username !== undefined && { username }), ...(name !== undefined && { name }) }
  const made = await admin.users.create({ email, password, roles, ...names, email_verified: false })
  return {
    id: made.id,
    email,
    username: made.username,
    ...(made.name !== undefined && { name: made.name }),
    roles,
    disabled: made.disabled,
    created_at: made.created_at,
  }
}

const create = async (command: Creation['command'], user: WholeUser): Promise<Account> => {
  const { email, password, username, name, roles = [] } = user
  const options = [
    ...(username === undefined ? [] : ['--username', username]),
    ...(name === undefined ? [] : ['--name', name]),
    ...roles.flatMap((role) => ['--role', role]),
  ]
  const args = ['users', 'create', '--json', ...options, '--email', email]
  const output = await runSvc({ ...command, args }, `${password}\n`)
  return JSON.parse(output) as Account
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

const toHeader = (cookies: SignInCookie[]): string => cookies.map(({ name, value }) => `${name}=${value}`).join('; ')

/** Fills in the login form. `domain` is the host that the browser sees. */
export const signIn = async (
  url: string,
  domain: string,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
): Promise<SignedIn> => {
  const cookiesOf = ({ headers }: Response) => headers.getSetCookie().map((line) => readCookie(line, domain))
  const page = await fetch(`${url}/auth/login`, { redirect: 'manual' })
  await page.text()
  const before = cookiesOf(page)
  const csrfToken = before.find(({ name }) => name.endsWith('svc_csrf'))?.value ?? ''
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: toHeader(before) },
    body: new URLSearchParams({ csrf_token: csrfToken, email, password }),
  })
  const html = await answer.text()
  const cookies = [...new Map([...before, ...cookiesOf(answer)].map((cookie) => [cookie.name, cookie])).values()]
  if (!cookies.some(({ name }) => name.endsWith('svc_access'))) {
    const [, reason = ''] = /role="alert"[^>]*>([^]*?)<\//.exec(html) ?? []
    const why = reason.replaceAll(/<[^>]*>|\s+/g, ' ').trim() || (answer.headers.get('location') ?? '')
    throw new Error(`${email} could not sign in: ${answer.status} ${why}`)
  }
  return { cookies, cookie: toHeader(cookies.filter(({ path }) => path === '/')) }
}
