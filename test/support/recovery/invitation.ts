import type { Answer, Form, UserAgent } from '../client/user-agent.ts'
import { runJsonCommandOf } from '../service/operator-commands.ts'
import type { Service } from '../service/service.ts'
import { tokenOf } from './reset.ts'

export const INVITE = '/auth/invite'

interface InvitedUser {
  id: string
  email: string
  username: string
  roles: string[]
  email_verified: boolean
  self_made: boolean
  invited: boolean
  url: string
  expires_at: string
}

/** Invites on the command line: the account, and the token of its link. */
export const invite = async (service: Service, email: string, ...options: string[]) => {
  const user = await runJsonCommandOf<InvitedUser>(service, ['users', 'invite', email, ...options])
  return { user, token: tokenOf(user.url) }
}

export const openInvitation = (agent: UserAgent, token: string): Promise<Answer> =>
  agent.get(`${INVITE}?token=${encodeURIComponent(token)}`)

/** Fills in and sends the form of the page. */
export const acceptBy = (agent: UserAgent, token: string, password: string, form: Form = {}): Promise<Answer> =>
  agent.post(INVITE, { token, password, ...form })
