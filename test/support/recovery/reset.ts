import assert from 'node:assert/strict'
import type { Person } from '../client/accounts.ts'
import { createUserAgent, type Answer, type Form, type UserAgent } from '../client/user-agent.ts'
import { runJsonCommandOf } from '../service/operator-commands.ts'
import type { ReceivedMail, SmtpServer } from '../network/smtp-server.ts'
import type { Service } from '../service/service.ts'

import { eventually } from '../wait.ts'

export const RESET = '/auth/password/reset'
export const FORGOT = '/auth/password/forgot'

/** The token of a link. */
export const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? ''

/** The token of a link that an operator made. */
export const resetTokenOf = async (service: Service, name: string): Promise<string> =>
  tokenOf((await runJsonCommandOf<{ url: string }>(service, ['users', 'reset-link', name])).url)

export const openReset = (agent: UserAgent, token: string): Promise<Answer> =>
  agent.get(`${RESET}?token=${encodeURIComponent(token)}`)

/** Fills in and sends the form of the page. */
export const resetBy = (agent: UserAgent, token: string, password: string, form: Form = {}): Promise<Answer> =>
  agent.post(RESET, { token, password, ...form })

/** The same person with another password. */
export const withNewPassword = (person: Person): Person => ({ ...person, password: `new ${person.password}` })

/** A reset in a browser of its own, from the link to the session. */
export const resetElsewhere = async (service: Service, { email, password }: Person) => {
  const agent = createUserAgent(service)
  const answer = await resetBy(agent, await resetTokenOf(service, email), password)
  return { agent, answer }
}

/** Asks for a link on the page "Forgot your password?". */
export const askForLink = (agent: UserAgent, email: string, form: Form = {}): Promise<Answer> =>
  agent.post(FORGOT, { email, ...form })

/** The messages with a link to a new password that an address has got. */
export const resetMails = ({ mails }: SmtpServer, address: string): ReceivedMail[] =>
  mails.filter(({ to, links }) => to === address && links.some((link) => new URL(link).pathname === RESET))

/** The `count`th message with a link to a new password, once it has arrived. */
export const resetMailFor = async (smtp: SmtpServer, address: string, count = 1): Promise<ReceivedMail> => {
  await eventually(`message ${count} for ${address}`, () => resetMails(smtp, address).length >= count)
  const mail = resetMails(smtp, address)[count - 1]
  assert.ok(mail)
  return mail
}
