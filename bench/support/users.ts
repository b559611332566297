import { randomInt } from 'node:crypto'
import { type RawResponse, sendRequest } from './connection.ts'
import type { Client } from './load.ts'

/** A signed-in user. */
export interface SignedInUser {
  email: string
  cookies: Map<string, string>
}

export const PASSWORD = 'a benchmark, not a secret'
const AT_ONCE = 16

const cookieHeader = (cookies: Map<string, string>, ...names: string[]): string =>
  names.map((name) => `${name}=${cookies.get(name) ?? ''}`).join('; ')

/** Stores the cookies that a response sets. */
export const keepCookies = (cookies: Map<string, string>, head: string): void => {
  for (const [, name = '', value = ''] of head.matchAll(/\r\nset-cookie: *([^=]+)=([^;\r]*)/gi))
    cookies.set(name, value)
}

const HOST = 'Host: localhost'

/** The request of an application's server on behalf of a user. */
export const getUser = (cookies: Map<string, string>): string =>
  `GET /auth/api/v1/user HTTP/1.1\r\n${HOST}\r\nCookie: ${cookieHeader(cookies, 'svc_access', 'svc_csrf')}\r\n\r\n`

export const get = (path: string, cookies = ''): string =>
  `GET ${path} HTTP/1.1\r\n${HOST}\r\n${cookies && `Cookie: ${cookies}\r\n`}\r\n`

/** The request of a browser for a file of a page. */
export const getFile = (path: string): string =>
  `GET ${path} HTTP/1.1\r\n${HOST}\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n`

export const postRefresh = (cookies: Map<string, string>): string =>
  'POST /auth/api/v1/sessions/refresh?audience=app HTTP/1.1\r\n' +
  `${HOST}\r\nCookie: ${cookieHeader(cookies, 'svc_access', 'svc_refresh', 'svc_csrf')}\r\n` +
  `X-CSRF-Token: ${cookies.get('svc_csrf')}\r\nContent-Length: 0\r\n\r\n`

/** A form submission with all cookies, as a browser sends it. */
export const postForm = (path: string, cookies: Map<string, string>, fields: Record<string, string>): string => {
  const csrf = cookies.get('svc_csrf') ?? ''
  const body = new URLSearchParams({ ...fields, csrf_token: csrf }).toString()
  return (
    `POST ${path} HTTP/1.1\r\n${HOST}\r\nCookie: ${cookieHeader(cookies, ...cookies.keys())}\r\n` +
    `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

const requireStatus = (expected: number, response: RawResponse): RawResponse => {
  if (response.status === expected) return response
  throw new Error(`expected ${expected}, got ${response.status}: ${response.body.toString().slice(0, 400)}`)
}

/** The cookies of a first visit, which are only a CSRF token. */
export const fetchCsrfCookie = async (port: number): Promise<Map<string, string>> => {
  const cookies = new Map<string, string>()
  keepCookies(cookies, requireStatus(200, await sendRequest(port, get('/auth/login'))).head)
  return cookies
}

const signUp = async (port: number, csrfCookie: Map<string, string>, email: string): Promise<SignedInUser> => {
  const response = await sendRequest(port, postForm('/auth/signup', csrfCookie, { email, password: PASSWORD }))
  const cookies = new Map<string, string>()
  keepCookies(cookies, requireStatus(303, response).head)
  return { email, cookies }
}

/** Creates `count` accounts (one or more) through the signup form; all are signed in. */
export const signUpUsers = async (
  port: number,
  count: number,
  prefix = 'user',
): Promise<[SignedInUser, ...SignedInUser[]]> => {
  const csrfCookie = await fetchCsrfCookie(port)
  const users: [SignedInUser, ...SignedInUser[]] = [await signUp(port, csrfCookie, `${prefix}-0@example.com`)]
  while (users.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - users.length) }, (_, at) => users.length + at)
    users.push(...(await Promise.all(batch.map((at) => signUp(port, csrfCookie, `${prefix}-${at}@example.com`)))))
  }
  return users
}

/** Repeats `GET /user` for one user. */
export const userClient = ({ cookies }: SignedInUser): Client => {
  const request = Buffer.from(getUser(cookies))
  return { request: () => request, expectStatus: 200 }
}

/** Refreshes the user's session again and again, each time with the cookies of the last response. */
export const refreshClient = ({ cookies }: SignedInUser): Client => ({
  request: () => postRefresh(cookies),
  expectStatus: 200,
  onResponse: ({ head }) => keepCookies(cookies, head),
})

/** Logs in again and again with right credentials. */
export const loginClient = (email: string, csrfCookie: Map<string, string>): Client => {
  const request = postForm('/auth/login', csrfCookie, { email, password: PASSWORD })
  return { request: () => request, expectStatus: 303 }
}

/** The same request as if a proxy had got it from another address each time. */
export const fromAnywhere = (request: string): string =>
  request.replace('\r\n', `\r\nX-Forwarded-For: ${randomAddress()}\r\n`)

/** The address of a client, as a proxy reports it. */
export const randomAddress = (): string => [10, randomInt(256), randomInt(256), randomInt(256)].join('.')

/** A login with right credentials, from another address each time. */
export const loginFromAnywhere = (email: string, csrfCookie: Map<string, string>): string =>
  fromAnywhere(postForm('/auth/login', csrfCookie, { email, password: PASSWORD }))

/** Creates one account after the other. */
export const signupClient = (prefix: string, csrfCookie: Map<string, string>): Client => {
  let count = 0
  return {
    request: () =>
      postForm('/auth/signup', csrfCookie, { email: `${prefix}-${count++}@example.com`, password: PASSWORD }),
    expectStatus: 303,
  }
}

/** Several clients (one or more) on one connection, in turn. */
export const roundRobinClient = (clients: readonly Client[]): Client => {
  let [current] = clients
  if (!current) throw new Error('there is no client')
  const { expectStatus } = current
  let turn = 0
  return {
    request: () => {
      current = clients[turn++ % clients.length]
      return current?.request() ?? ''
    },
    expectStatus,
    onResponse: (response) => current?.onResponse?.(response),
  }
}

/** Repeats the same request. */
export const constantClient = (request: string, expectStatus = 200): Client => {
  const bytes = Buffer.from(request)
  return { request: () => bytes, expectStatus }
}
