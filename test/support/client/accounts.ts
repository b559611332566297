import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Answer, type Form, type UserAgent, createUserAgent, type Site } from './user-agent.ts'

export type Person = { email: string; password: string; username: string }

/** With a name, where `SVC_NAMES` is on. */
export type NamedPerson = Person & { name?: string }

/** The user as the JSON API shows it. */
export type User = {
  id: string
  email: string
  username: string
  /** Only where `SVC_NAMES` is on. */
  name?: string | null
  roles: string[]
  disabled: boolean
  created_at: string
}

/** A new person, who has no account yet. */
export const newPerson = (): Person => {
  const name = `p${randomUUID().replaceAll('-', '').slice(0, 12)}`
  return { email: `${name}@example.com`, password: `pass phrase ${randomUUID()}`, username: name }
}

/** Fills in and sends the signup form. */
export const signUp = (agent: UserAgent, person: Form): Promise<Answer> => agent.post('/auth/signup', person)

/** Fills in and sends the login form. */
export const logIn = (agent: UserAgent, { email, password }: Person, form: Form = {}): Promise<Answer> =>
  agent.post('/auth/login', { email, password, ...form })

/** Sends the form of the logout page. */
export const logOut = (agent: UserAgent): Promise<Answer> => agent.post('/auth/logout')

/** A browser that has already seen a page, and has a CSRF token for its first form. */
export const newAgent = (service: Site): UserAgent => {
  const agent = createUserAgent(service)
  agent.cookies.set('svc_csrf', 'x'.repeat(43))
  return agent
}

/** A new account with an agent that is signed in to it. */
export const signedUp = async (
  service: Site,
  person: NamedPerson = newPerson(),
): Promise<{ agent: UserAgent; person: Person }> => {
  const agent = newAgent(service)
  const answer = await signUp(agent, person)
  assert.equal(answer.status, 303, `signup: ${answer.text}`)
  return { agent, person }
}

/** Another agent that is signed in as the user. */
export const loggedIn = async (service: Site, person: Person): Promise<UserAgent> => {
  const agent = newAgent(service)
  const answer = await logIn(agent, person)
  assert.equal(answer.status, 303, `login: ${answer.text}`)
  return agent
}

/** The signed-in user from the API. */
export const currentUser = async (agent: UserAgent): Promise<User> => {
  const answer = await agent.get('/auth/api/v1/user')
  assert.equal(answer.status, 200, answer.text)
  return answer.json<User>()
}
