import assert from 'node:assert/strict'
import { logIn, logOut, newAgent, newPerson, type Person, signedUp, signUp } from './accounts.ts'
import { assertErrorPage, assertJsonError } from './assertions.ts'
import type { Answer, UserAgent } from './user-agent.ts'

/** Typical requests of users, with their usual status. */
const USUAL = { user: 200, check: 200, refresh: 200, account: 200, login: 303, signup: 303, logout: 303 }
export type RequestKind = keyof typeof USUAL
export const ALL_REQUESTS: readonly RequestKind[] = ['user', 'check', 'refresh', 'account', 'login', 'signup', 'logout']
/** Commands that change the database. */
export const WRITING_REQUESTS: readonly RequestKind[] = ['refresh', 'login', 'signup', 'logout']

/** Two signed-in users: one stays, the other logs out. */
export type TestUsers = { stayer: UserAgent; leaver: UserAgent; person: Person }

export const createTestUsers = async (service: { url: string }): Promise<TestUsers> => {
  const [{ agent: stayer, person }, { agent: leaver }] = await Promise.all([signedUp(service), signedUp(service)])
  return { stayer, leaver, person }
}

/** Sends one request of each kind at once, and does not change the cookies of the users. */
export const sendAllRequests = async (
  service: { url: string },
  visitors: TestUsers,
): Promise<[RequestKind, Answer][]> => {
  const stayer = visitors.stayer.copy()
  const answers: Record<RequestKind, Promise<Answer>> = {
    user: stayer.get('/auth/api/v1/user'),
    check: stayer.get('/auth/check'),
    refresh: visitors.stayer.copy().refresh(),
    account: stayer.get('/auth/account'),
    login: logIn(newAgent(service), visitors.person),
    signup: signUp(newAgent(service), newPerson()),
    logout: logOut(visitors.leaver.copy()),
  }
  return Promise.all(ALL_REQUESTS.map(async (visit): Promise<[RequestKind, Answer]> => [visit, await answers[visit]]))
}

export const assertUsualStatus = (visit: RequestKind, answer: Answer): void =>
  assert.equal(answer.status, USUAL[visit], `${visit}: ${answer.text}`)

/** Checks that the response sets no cookie, and says nothing about the database. */
export const assertHarmless = (answer: Answer): void => {
  assert.deepEqual(answer.setCookies, [])
  assert.doesNotMatch(answer.text, /postgres|svc_test|127\.0\.0\.1/)
}

/** Checks for 503 `unavailable` as JSON or as a page, with `Retry-After`. */
export const assertUnavailable = (visit: RequestKind, answer: Answer): void => {
  if (['user', 'check', 'refresh'].includes(visit)) assertJsonError(answer, 503, 'unavailable')
  else assertErrorPage(answer, 503)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assertHarmless(answer)
}
