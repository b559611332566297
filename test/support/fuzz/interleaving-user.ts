import assert from 'node:assert/strict'
import type { Core } from '../../../src/core.ts'
import { newPerson, type Person } from '../client/accounts.ts'
import { type CookieJar, createCookieJar } from '../client/cookie-jar.ts'
import { type Answer, createUserAgent, type Form, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Service } from '../service/service.ts'

/** Two replicas, the core of an operator's command, and their clock. */
export interface InterleavingWorld {
  replicas: readonly [Service, Service]
  operator: Core
  clock: TurnedClock
}

/** The session that the cookies name; '' without one. */
export const sessionIn = (jar: CookieJar): string => (jar.get('svc_refresh') ?? '').split('.', 1).join('')

/** A browser, or a copy of its cookies, which can reach both replicas. */
export interface Visitor {
  jar: CookieJar
  agents: readonly [UserAgent, UserAgent]
  /**
   * Each comes from an address of their own: limits of a network are no part of this. No connection is kept, since a
   * run has hundreds of visitors.
   */
  from: { 'x-forwarded-for': string; connection: 'close' }
}

let addresses = 0

const nextAddress = (): string => {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

export const newVisitor = ({ replicas }: InterleavingWorld, jar: CookieJar = createCookieJar()): Visitor => ({
  jar,
  agents: [createUserAgent(replicas[0], jar), createUserAgent(replicas[1], jar)],
  from: { 'x-forwarded-for': nextAddress(), connection: 'close' },
})

export const agentAt = ({ agents }: Visitor, at: number): UserAgent => agents[at === 0 ? 0 : 1]

export const refresh = (visitor: Visitor, at: number): Promise<Answer> =>
  agentAt(visitor, at).refresh('audience=app', visitor.from)

export const read = (visitor: Visitor, at: number): Promise<Answer> =>
  agentAt(visitor, at).get('/auth/api/v1/user', visitor.from)

export const open = (visitor: Visitor, at: number): Promise<Answer> =>
  agentAt(visitor, at).get('/auth/account', visitor.from)

/** Sends a form of a page, for which a browser without a token has seen one before. */
export const post = (visitor: Visitor, at: number, path: string, form: Form): Promise<Answer> => {
  if (visitor.jar.get('svc_csrf') === undefined) visitor.jar.set('svc_csrf', 'x'.repeat(43))
  return agentAt(visitor, at).post(path, form, visitor.from)
}

export const logIn = (visitor: Visitor, at: number, { email, password }: Person): Promise<Answer> =>
  post(visitor, at, '/auth/login', { email, password })

/** A new user with so many browsers, which the account knows. */
export const newUser = async (world: InterleavingWorld, browsers: number) => {
  const person = newPerson()
  const { id } = await world.operator.users.create({ ...person, emailVerified: true })
  const visitors = Array.from({ length: browsers }, () => newVisitor(world))
  for (const visitor of visitors) assert.equal((await logIn(visitor, 0, person)).status, 303)
  return { id, person, visitors }
}

/** Whether cookies still lead into the account, by the access token or by a renewal. It uses up the refresh token. */
export const isLetIn = async (visitor: Visitor, at: number): Promise<boolean> => {
  const { status, text } = await read(visitor, at)
  assert.ok(status === 200 || status === 401, `${status} ${text}`)
  if (status === 200) return true
  const renewed = await refresh(visitor, at)
  assert.ok(renewed.status === 200 || renewed.status === 401, `${renewed.status} ${renewed.text}`)
  if (renewed.status === 401) return false
  assert.equal((await read(visitor, at)).status, 200, 'a renewed session is good')
  return true
}

/** Fails where a copy of cookies still leads into the account, at either replica and in any way. */
export const assertShutOut = async (world: InterleavingWorld, jar: CookieJar, why: string): Promise<void> => {
  for (const at of [0, 1]) {
    const copy = newVisitor(world, jar.copy())
    assert.equal((await read(copy, at)).status, 401, `${why}: the access token is accepted at ${at}`)
    assert.equal((await open(copy, at)).status, 303, `${why}: the account page is shown at ${at}`)
    const later = newVisitor(world, jar.copy())
    assert.equal((await refresh(later, at)).status, 401, `${why}: the session is renewed at ${at}`)
  }
}
