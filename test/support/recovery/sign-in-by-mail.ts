import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { newPerson, type Person } from '../client/accounts.ts'
import { assertPage } from '../client/assertions.ts'
import { type Answer, createUserAgent, type Form, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { openDatabase } from '../database/database.ts'
import { type ReceivedMail, startSmtpServer } from '../network/smtp-server.ts'
import type { Environment } from '../service/command.ts'
import { openOperator } from '../service/replicas.ts'
import { type Service, startService } from '../service/service.ts'
import { eventually } from '../wait.ts'
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

const isSignInLink = (url: string): boolean => url.includes(`${LINK}?token=`)

interface Options {
  env?: Environment
  clock?: TurnedClock
  t?: TestContext
}

/** A service whose users sign in by mail, with what tests of it do. */
export const startSignInByMail = (options: Options = {}) => startSignInByMailWith(startService, options)

/** The same, with a service that is started in another way. */
export const startSignInByMailWith = async <S extends Service>(
  start: (options: Options & { env: Environment }) => Promise<S>,
  { env, clock, t }: Options = {},
) => {
  const smtp = await startSmtpServer(t ? { t } : {})
  const settings = { ...smtp.env, SVC_EMAIL_SIGN_IN: 'on', SVC_EMAIL_VERIFICATION: 'off', ...env }
  const service = await start({ env: settings, ...(clock && { clock }), ...(t && { t }) })
  const database = await openDatabase(service, t)
  const core = await openOperator(service, t)

  /** A new account, which nobody has signed in to. */
  const newUser = async (given: { emailVerified?: boolean } = {}): Promise<Person & { id: string }> => {
    const person = newPerson()
    const { id } = await core.users.create({ ...person, emailVerified: true, isSelfMade: true, ...given })
    return { ...person, id }
  }

  /** The messages to an address that lead to the page of a link that signs in; notices come between them. */
  const signInMails = (email: string): ReceivedMail[] =>
    smtp.mails.filter(({ to, links }) => to.toLowerCase() === email.toLowerCase() && links.some(isSignInLink))

  /** Asks, and waits for the message that results, which may have no code. */
  const askedForMail = async (agent: UserAgent, email: string, form: Form = {}): Promise<Omit<ByMail, 'code'>> => {
    const before = signInMails(email).length
    await ask(agent, email, form)
    await eventually(`a message to ${email}`, () => signInMails(email).length > before)
    const mail = signInMails(email).at(-1) as ReceivedMail
    return { mail, token: tokenOf(mail.link) }
  }

  const asked = async (agent: UserAgent, email: string, form: Form = {}): Promise<ByMail> => {
    const { mail, token } = await askedForMail(agent, email, form)
    return { mail, token, code: codeOf(mail) }
  }

  return {
    smtp,
    service,
    database,
    core,
    asked,
    askedForMail,
    signInMails,
    newUser,
    newAgent: () => createUserAgent(service),
  }
}
