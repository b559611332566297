import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type NamedPerson, newPerson, signUp } from '../client/accounts.ts'
import { assertPage, assertRedirect } from '../client/assertions.ts'
import { type Answer, createUserAgent, type Form, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { openDatabase } from '../database/database.ts'
import { startSmtpServer } from '../network/smtp-server.ts'
import { accessToken, claimsOf } from '../service/access-tokens.ts'
import type { Environment } from '../service/command.ts'
import { startService } from '../service/service.ts'
import { tokenOf } from './reset.ts'

export const VERIFY = '/auth/email/verify'

/** Opens the page of a link. */
export const openVerify = (agent: UserAgent, token: string): Promise<Answer> => agent.get(`${VERIFY}?token=${token}`)

/** Presses the button of the page, or sends one of its forms. */
export const verifyBy = (agent: UserAgent, token: string, form: Form = {}): Promise<Answer> =>
  agent.post(VERIFY, { token, ...form })

/** Whether the next access token of a signed-in user says that the email is verified. */
export const isVerified = async (agent: UserAgent): Promise<unknown> => {
  assert.equal((await agent.refresh()).status, 200)
  return claimsOf(accessToken(agent)).email_verified
}

/** The page of a link that is not good. */
export const assertDead = (answer: Answer): void => assertPage(answer, 410)

interface Options {
  mode: 'optional' | 'required'
  env?: Environment
  clock?: TurnedClock
  t?: TestContext
  start?: (options: { env: Environment; clock?: TurnedClock; t?: TestContext }) => ReturnType<typeof startService>
}

/** A service that sends mail, with what tests of verification do. */
export const startVerification = async ({ mode, env, clock, t, start = startService }: Options) => {
  const smtp = await startSmtpServer(t ? { t } : {})
  // Other messages about logins would come between those that a test waits for.
  const settings = { ...smtp.env, SVC_EMAIL_VERIFICATION: mode, SVC_MAIL_NOTICES: 'off', ...env }
  const service = await start({ env: settings, ...(clock && { clock }), ...(t && { t }) })
  const database = await openDatabase(service, t)

  /** The token of the `count`th message to an address. */
  const tokenFor = async (email: string, count = 1): Promise<string> =>
    tokenOf((await smtp.receivedFor(email, count)).link)

  /** Signs up, and goes on with the token of the message. */
  const signedUpBy = async (agent: UserAgent, person: NamedPerson = newPerson()) => {
    const answer = await signUp(agent, { ...person, return_to: '/kept' })
    if (mode === 'optional') assertRedirect(answer, '/kept')
    else assertPage(answer)
    return { agent, person, answer, token: await tokenFor(person.email) }
  }

  return {
    smtp,
    service,
    database,
    tokenFor,
    newAgent: () => createUserAgent(service),
    signUp: (person?: NamedPerson) => signedUpBy(createUserAgent(service), person),
  }
}
