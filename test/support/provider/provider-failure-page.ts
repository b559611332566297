import assert from 'node:assert/strict'
import { assertErrorPage } from '../client/assertions.ts'
import type { Answer, UserAgent } from '../client/user-agent.ts'
import { loggedLine } from '../service/request-log.ts'
import type { Service } from '../service/service.ts'
import type { Claims, Fault } from './misbehaving-provider-faults.ts'
import { assertNoSession } from './provider-service.ts'

/** A return_to that must be kept unchanged. */
export const RETURN_TO = '/kept?a=1&b=%2F#there'
export const KEPT_LINK = 'return_to=%2Fkept%3Fa%3D1%26b%3D%252F%23there"'
export const KEPT_FIELD = 'name="return_to" value="/kept?a=1&amp;b=%2F#there"'

/** One way in which a sign-in fails. */
export interface Failure {
  provider?: string
  fault: Fault
  status: number
  problem: string
  /** When it is noticed: at the start, or at the callback. */
  at?: 'start' | 'callback'
  /** `false` if the state is not readable, so that its return_to is unknown. */
  isReturnToKept?: boolean
  claims?: Claims
}

/** The log line of a failed sign-in. */
export const failureOf = (service: Service, { headers }: Answer) =>
  loggedLine(
    service,
    (line) =>
      line.message === 'sign-in by a provider failed' && line.request_id === String(headers['x-request-id'] ?? ''),
  )

/** Problems about an email: only their pages show it. */
const ABOUT_EMAILS = ['email_unverified', 'domain_not_allowed', 'no_proof']
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll("'", '&#39;')

const assertShowsEmailOnly = ({ text }: Answer, problem: string, { sub, email }: Claims) => {
  assert.ok(typeof sub !== 'string' || sub === '' || !text.includes(sub), `the page has ${JSON.stringify(sub)}`)
  if (typeof email !== 'string' || email === '') return
  if (!ABOUT_EMAILS.includes(problem)) return assert.ok(!text.includes(escaped(email)), `the page has ${email}`)
  assert.ok(text.includes(`<b>${escaped(email)}</b>`), `the page has ${email}, as text: ${text}`)
}

/**
 * Checks the page of a failed sign-in: its status, the next step, no text from the provider, and the line in the log.
 */
export const assertRefusal = async (
  at: Service,
  agent: UserAgent,
  answer: Answer,
  { failure, claims }: { failure: Failure; claims: Claims },
): Promise<void> => {
  const { status, problem, isReturnToKept = true, provider = 'corp' } = failure
  assertErrorPage(answer, status)
  assertNoSession(agent, answer, status)
  assert.ok(!isReturnToKept || answer.text.includes(KEPT_LINK) || answer.text.includes(KEPT_FIELD), answer.text)
  assert.match(answer.text, /<form method="post" action="\/auth\/oauth\/|href="\/auth\/(?:login|signup)/)
  assert.equal(status === 503, answer.headers['retry-after'] !== undefined, 'Retry-After')
  assert.doesNotMatch(answer.text, /onerror|alert\(|provider\.invalid|somebody|victim|not good|Welcome|maintenance/)
  assertShowsEmailOnly(answer, problem, claims)
  const line = await failureOf(at, answer)
  assert.deepEqual([line.provider, line.problem], [provider, problem], JSON.stringify(line))
}
