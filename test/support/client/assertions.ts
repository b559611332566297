import assert from 'node:assert/strict'
import { type Person, logIn, newAgent } from './accounts.ts'
import type { Answer, UserAgent } from './user-agent.ts'

type JsonError = { error: { code: string; message: string } }

// Texts for programmers only: stack frames, files, statements and messages of the database.
const internals =
  /\bat .+:\d+:\d+|node:internal|\.ts\b|node_modules|SQLITE|\bSELECT\b|\bINSERT INTO\b|no such table|relation "|duplicate key/

/** Checks for the documented JSON error: status, type, code, a message, and the request id. */
export const assertJsonError = (answer: Answer, status: number, code: string): string => {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
  const { error } = answer.json<JsonError>()
  assert.equal(error.code, code)
  assert.ok(typeof error.message === 'string' && error.message.length > 0, 'a message for people')
  assert.doesNotMatch(answer.text, internals)
  assertShowsRequestId(answer)
  return error.message
}

/** Checks for an HTML page. */
export const assertPage = (answer: Answer, status = 200): void => {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers['content-type'] ?? '', /^text\/html; ?charset=utf-8$/i)
  assert.match(answer.text, /<!doctype html>/i)
}

/** Checks for an error page that shows the request id. */
export const assertErrorPage = (answer: Answer, status: number): void => {
  assertPage(answer, status)
  assert.doesNotMatch(answer.text, internals)
  assertShowsRequestId(answer)
}

/** Checks that the request id is in the header and in the text. */
export const assertShowsRequestId = (answer: Answer): void => {
  const id = answer.headers['x-request-id']
  assert.ok(typeof id === 'string' && id.length >= 8, 'X-Request-Id')
  assert.ok(answer.text.includes(id), `the answer shows its id ${id}: ${answer.text.slice(0, 500)}`)
}

/** What the account page says was done, of an address that leads to its message. */
const withoutMessage = (location = ''): string => location.replace(/^(\/auth\/account\?done=\w+)#[a-z-]+$/, '$1')

/** Checks for a redirect (303) to exactly this location; one to a message of the account page is named without its fragment. */
export const assertRedirect = (answer: Answer, location: string): void => {
  assert.equal(answer.status, 303, answer.text)
  assert.equal(withoutMessage(answer.location), location)
}

/** Checks that the access cookie of the agent is valid. */
export const assertSignedIn = async (agent: UserAgent): Promise<void> => {
  const answer = await agent.get('/auth/api/v1/user')
  assert.equal(answer.status, 200, answer.text)
}

/** Checks that neither the access nor the refresh cookie of the agent is valid. */
export const assertSignedOut = async (agent: UserAgent): Promise<void> => {
  assertJsonError(await agent.get('/auth/api/v1/user'), 401, 'unauthorized')
  assertJsonError(await agent.refresh(), 401, 'unauthorized')
}

/** Checks that a login with the password succeeds. */
export const assertCanLogIn = async (service: { url: string }, person: Person): Promise<void> => {
  const answer = await logIn(newAgent(service), person)
  assert.equal(answer.status, 303, `${person.email} can log in: ${answer.text}`)
}

/** Checks that a login with the password fails. */
export const assertCannotLogIn = async (service: { url: string }, person: Person): Promise<void> => {
  const answer = await logIn(newAgent(service), person)
  assert.equal(answer.status, 401, `${person.email} cannot log in`)
}
