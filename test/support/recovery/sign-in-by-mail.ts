import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { assertPage } from '../client/assertions.ts'
import { type Answer, createUserAgent, type Form, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { openDatabase } from '../database/database.ts'
import { type ReceivedMail, startSmtpServer } from '../network/smtp-server.ts'
import type { Environment } from '../service/command.ts'
import { startService } from '../service/service.ts'
import { tokenOf } from './reset.ts'

export const ASK = '/auth/login/email'
export const CODE = '/auth/login/email/code'
export const LINK = '/auth/login/email/link'

export const WRONG = '00000000'

/** The code of a message; fails if there is none, or more than one. */
export const codeOf = ({ text }: ReceivedMail): string => {
  const [code, ...more] = text.match(/^\d{8}$/gm) ?? []
  assert.ok(code && more.length === 0, `one code: ${text}`)
  return code
}

/** What a message brings. */
export interface ByMail {
  mail: ReceivedMail
  code: string
  token: string
}

/** Asks for a code, in this browser. */
export const ask = async (agent: UserAgent, email: string, form: Form = {}): Promise<Answer> => {
  const answer = await agent.post(ASK, { email, ...form })
  assertPage(answer)
  return answer
}

export const typeCode = (agent: UserAgent, code: string, form: Form = {}): Promise<Answer> =>
  agent.post(CODE, { code, ...form })

export const openLink = (agent: UserAgent, token: string): Promise<Answer> => agent.get(`${LINK}?token=${token}`)

export const pressLink = (agent: UserAgent, token: string, form: Form = {}): Promise<Answer> =>
  agent.post(LINK, { token, ...form })

interface Options {
  env?: Environment
  clock?: TurnedClock
  t?: TestContext
  start?: (options: { env: Environment; clock?: TurnedClock; t?: TestContext }) => ReturnType<typeof startService>
}

/** A service whose users sign in by mail, with what tests of it do. */
export const startSignInByMail = async ({ env, clock, t, start = startService }: Options = {}) => {
  const smtp = await startSmtpServer(t ? { t } : {})
  const settings = { ...smtp.env, SVC_EMAIL_SIGN_IN: 'on', SVC_EMAIL_VERIFICATION: 'off', ...env }
  const service = await start({ env: settings, ...(clock && { clock }), ...(t && { t }) })
  const database = await openDatabase(service, t)

  /** The messages to an address that sign in, in order. */
  const signInMails = (email: string) => smtp.mails.filter(({ to, text }) => to === email && /^\d{8}$/m.test(text))

  /** Asks, and waits for the message that results. */
  const asked = async (agent: UserAgent, email: string, form: Form = {}): Promise<ByMail> => {
    const before = smtp.mails.filter(({ to }) => to.toLowerCase() === email.toLowerCase()).length
    await ask(agent, email, form)
    const mail = await smtp.receivedFor(email, before + 1)
    return { mail, code: codeOf(mail), token: tokenOf(mail.link) }
  }

  return { smtp, service, database, asked, signInMails, newAgent: () => createUserAgent(service) }
}
