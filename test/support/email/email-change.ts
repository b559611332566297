import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Core } from '../../../src/core.ts'
import { loggedIn, newPerson, type Person } from '../client/accounts.ts'
import { assertRedirect } from '../client/assertions.ts'
import { type Answer, type Form, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { type SmtpServer, startSmtpServer } from '../network/smtp-server.ts'
import { type providerSettings, startServiceWith } from '../provider/provider-service.ts'
import { tokenOf } from '../recovery/reset.ts'
import type { Environment } from '../service/command.ts'
import { openOperator } from '../service/replicas.ts'
import type { Service } from '../service/service.ts'

export const VERIFY = '/auth/email/verify'
export const UNDO = '/auth/email/undo'

type Providers = Parameters<typeof providerSettings>[0]

type Options = { env?: Environment; clock?: TurnedClock; providers?: Providers; t?: TestContext }

/** A service with mail, and its users. */
export type MailedService = {
  service: Service
  smtp: SmtpServer
  /** The same installation without HTTP. */
  operator: Core
  /** A new account with a proved address, and an agent that is signed in to it. */
  newUser(): Promise<MailedUser>
  /** The token of the `count`th link to an address. */
  tokenTo(address: string, count?: number): Promise<string>
}

export type MailedUser = { id: string; person: Person; agent: UserAgent }

export const startMailedService = async ({ env, clock, providers = {}, t }: Options = {}): Promise<MailedService> => {
  const smtp = await startSmtpServer(t ? { t } : {})
  const service = await startServiceWith(providers, {
    env: { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off', SVC_MAIL_NOTICES: 'off', ...env },
    ...(clock && { clock }),
    ...(t && { t }),
  })
  const operator = await openOperator(service, t)
  return {
    service,
    smtp,
    operator,
    async newUser() {
      const person = newPerson()
      const { id } = await operator.users.create({ ...person, emailVerified: true })
      return { id, person, agent: await loggedIn(service, person) }
    },
    tokenTo: async (address, count = 1) => tokenOf((await smtp.receivedFor(address, count)).link),
  }
}

/** Sends the form of the account page that asks for another address. */
export const askFor = (agent: UserAgent, email: string, form: Form = {}): Promise<Answer> =>
  agent.post('/auth/account/email', { email, ...form })

/** Asks for another address; resolves to the token that confirms it. */
export const asked = async (
  { tokenTo }: MailedService,
  agent: UserAgent,
  email: string,
  count = 1,
): Promise<string> => {
  assertRedirect(await askFor(agent, email), '/auth/account?done=email_requested')
  return tokenTo(email, count)
}

/** In the browser that has asked, or with a password in any. */
export const confirm = (agent: UserAgent, token: string, form: Form = {}): Promise<Answer> =>
  agent.post(VERIFY, { token, ...form })

/** Asks for another address and confirms it. */
export const changed = async (mailed: MailedService, agent: UserAgent, email: string): Promise<void> => {
  const answer = await confirm(agent, await asked(mailed, agent, email))
  assert.equal(answer.status, 200, answer.text)
}

/** Fills in and sends the form of a link that undoes a change. */
export const undo = (agent: UserAgent, token: string, password: string): Promise<Answer> =>
  agent.post(UNDO, { token, password })
