import { type Answer, ask } from './connection.ts'
import type { Client } from './load.ts'

/** A signed-in user. */
export interface Visitor {
  email: string
  cookies: Map<string, string>
}

const PASSWORD = 'a benchmark, not a secret'
const AT_ONCE = 16

const cookieHeader = (cookies: Map<string, string>, ...names: string[]): string =>
  names.map((name) => `${name}=${cookies.get(name) ?? ''}`).join('; ')

/** Stores the cookies that a response sets. */
export const keepCookies = (cookies: Map<string, string>, head: string): void => {
  for (const [, name = '', value = ''] of head.matchAll(/\r\nset-cookie: *([^=]+)=([^;\r]*)/gi))
    cookies.set(name, value)
}

const HOST = 'Host: localhost'

/** The request of an application's server on behalf of a visitor. */
export const getUser = (cookies: Map<string, string>): string =>
  `GET /auth/api/v1/user HTTP/1.1\r\n${HOST}\r\nCookie: ${cookieHeader(cookies, 'svc_access', 'svc_csrf')}\r\n\r\n`

export const get = (path: string, cookies = ''): string =>
  `GET ${path} HTTP/1.1\r\n${HOST}\r\n${cookies && `Cookie: ${cookies}\r\n`}\r\n`

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

const refuseUnless = (expected: number, answer: Answer): Answer => {
  if (answer.status === expected) return answer
  throw new Error(`expected ${expected}, got ${answer.status}: ${answer.body.toString().slice(0, 400)}`)
}

/** The cookies of a first visit, which are only a CSRF token. */
export const visit = async (port: number): Promise<Map<string, string>> => {
  const cookies = new Map<string, string>()
  keepCookies(cookies, refuseUnless(200, await ask(port, get('/auth/login'))).head)
  return cookies
}

const signUp = async (port: number, stranger: Map<string, string>, email: string): Promise<Visitor> => {
  const answer = await ask(port, postForm('/auth/signup', stranger, { email, password: PASSWORD }))
  const cookies = new Map<string, string>()
  keepCookies(cookies, refuseUnless(303, answer).head)
  return { email, cookies }
}

/** Creates `count` accounts (one or more) through the signup form; all are signed in. */
export const signUpVisitors = async (
  port: number,
  count: number,
  prefix = 'visitor',
): Promise<[Visitor, ...Visitor[]]> => {
  const stranger = await visit(port)
  const visitors: [Visitor, ...Visitor[]] = [await signUp(port, stranger, `${prefix}-0@example.com`)]
  while (visitors.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - visitors.length) }, (_, at) => visitors.length + at)
    visitors.push(...(await Promise.all(batch.map((at) => signUp(port, stranger, `${prefix}-${at}@example.com`)))))
  }
  return visitors
}

/** Repeats `GET /user` for one visitor. */
export const userClient = ({ cookies }: Visitor): Client => {
  const request = Buffer.from(getUser(cookies))
  return { request: () => request, expectStatus: 200 }
}

/** Refreshes the visitor's session again and again, each time with the cookies of the last response. */
export const refreshClient = ({ cookies }: Visitor): Client => ({
  request: () => postRefresh(cookies),
  expectStatus: 200,
  answered: ({ head }) => keepCookies(cookies, head),
})

/** Logs in again and again with right credentials. */
export const loginClient = (email: string, stranger: Map<string, string>): Client => {
  const request = postForm('/auth/login', stranger, { email, password: PASSWORD })
  return { request: () => request, expectStatus: 303 }
}

/** Creates one account after the other. */
export const signupClient = (prefix: string, stranger: Map<string, string>): Client => {
  let count = 0
  return {
    request: () =>
      postForm('/auth/signup', stranger, { email: `${prefix}-${count++}@example.com`, password: PASSWORD }),
    expectStatus: 303,
  }
}

/** Several clients (one or more) on one connection, in turn. */
export const takeTurns = (clients: readonly Client[]): Client => {
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
    answered: (answer) => current?.answered?.(answer),
  }
}

/** Repeats the same request. */
export const constantClient = (request: string, expectStatus = 200): Client => {
  const bytes = Buffer.from(request)
  return { request: () => bytes, expectStatus }
}
