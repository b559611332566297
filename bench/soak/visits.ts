import { randomInt } from 'node:crypto'
import type { RawResponse } from '../support/connection.ts'
import type { Client } from '../support/load.ts'
import { get, getUser, keepCookies, PASSWORD, postForm, postRefresh, randomAddress } from '../support/users.ts'

/** What the latencies are told apart by. */
export type Kind = 'GET /user' | 'refresh' | 'login' | 'others'

interface Step {
  kind: Kind
  request: string
  status: number
}

type Steps = Generator<Step, void, RawResponse>

/** An account with the cookies of the browser in which its user was last. */
export interface Account {
  email: string
  cookies: Map<string, string>
}

/** The client of a soak, which says what it has asked for. */
export interface Visitor extends Client {
  kind(): Kind
}

const READS = 200
const READS_A_REFRESH = 20
/** One visit in so many begins with a wrong password, is made from a browser that the account does not know, and so on. */
const ONE_IN = { wrongPassword: 10, newBrowser: 4, forgotten: 20, newcomer: 20 }

const isOne = (among: number): boolean => randomInt(among) === 0

/** One visit: sends each step from the same address, and keeps the cookies. */
const createSender = (cookies: Map<string, string>) => {
  const address = randomAddress()
  return function* send(kind: Kind, request: string, status: number): Steps {
    const { head } = yield { kind, status, request: request.replace('\r\n', `\r\nX-Forwarded-For: ${address}\r\n`) }
    keepCookies(cookies, head)
    // A browser drops a cookie that was ended.
    for (const [name, value] of cookies) if (value === '') cookies.delete(name)
  }
}

type Send = ReturnType<typeof createSender>

const cookieText = (cookies: Map<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

function* useApplication(send: Send, cookies: Map<string, string>): Steps {
  for (let read = 1; read <= READS; read++) {
    yield* send('GET /user', getUser(cookies), 200)
    if (read % READS_A_REFRESH === 0) yield* send('refresh', postRefresh(cookies), 200)
  }
}

/** A user signs in, uses the application, looks at the account page, and signs out. */
function* visit({ email, cookies }: Account): Steps {
  if (isOne(ONE_IN.newBrowser)) cookies.clear()
  const send = createSender(cookies)
  yield* send('others', get('/auth/login?return_to=%2Fapp', cookieText(cookies)), 200)
  if (isOne(ONE_IN.forgotten)) yield* send('others', postForm('/auth/password/forgot', cookies, { email }), 200)
  if (isOne(ONE_IN.wrongPassword))
    yield* send('login', postForm('/auth/login', cookies, { email, password: `not ${PASSWORD}` }), 401)
  yield* send('login', postForm('/auth/login', cookies, { email, password: PASSWORD, return_to: '/app' }), 303)
  yield* useApplication(send, cookies)
  yield* send('others', get('/auth/account', cookieText(cookies)), 200)
  yield* send('others', postForm('/auth/logout', cookies, {}), 303)
}

let newcomers = 0

/** A newcomer signs up, uses the application, and deletes the account. */
function* tryOut(): Steps {
  const cookies = new Map<string, string>()
  const send = createSender(cookies)
  const email = `newcomer-${process.pid}-${newcomers++}@example.com`
  yield* send('others', get('/auth/signup'), 200)
  yield* send('others', postForm('/auth/signup', cookies, { email, password: PASSWORD }), 303)
  yield* useApplication(send, cookies)
  yield* send('others', postForm('/auth/account/delete', cookies, { password: PASSWORD }), 303)
}

/** Makes one visit after the other, each for another of the accounts that nobody is using. */
export const createVisitor = (accounts: Account[]): Visitor => {
  let account: Account | undefined
  let steps: Steps
  let step: Step
  const begin = (): Step => {
    if (account) accounts.push(account)
    account = isOne(ONE_IN.newcomer) ? undefined : accounts.shift()
    steps = account ? visit(account) : tryOut()
    const first = steps.next()
    if (first.done) throw new Error('a visit without a request')
    return first.value
  }
  step = begin()
  return {
    kind: () => step.kind,
    request: () => step.request,
    get expectStatus() {
      return step.status
    },
    onResponse(response) {
      const next = steps.next(response)
      step = next.done ? begin() : next.value
    },
    onUnexpected() {
      account?.cookies.clear()
      step = begin()
    },
  }
}
