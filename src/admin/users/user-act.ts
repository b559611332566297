import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { AccountEventName } from '../../lib/account-event.ts'
import type { Caller } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { AdminContext, AdminForm, FormRefusal } from '../http/context.ts'
import type { AdminAction } from '../policy.ts'
import type { AdminServices } from '../services.ts'
import { type Ask, askPage, readReason } from '../site/ask.ts'
import { plural } from '../site/parts.ts'
import { findGrants, requireShownUser, type ShownGrant } from './account.ts'

/** A page about a user knows this before it asks. */
export interface Subject {
  user: DirectoryUser
  sessions: number
  grants: readonly ShownGrant[]
}

/** This is what the page asks; a text says why there is nothing to do. */
type Asked = Pick<Ask, 'ends' | 'fields' | 'button' | 'isDanger'> | string

/** The text says what was done, and how to take it back where that is possible. */
type Outcome = string | { path: string; done: string } | HttpResponse

export interface UserAct {
  /** The page is below that of the user. */
  path: string
  does: AdminAction
  /** The log has this event, as for the same act by command. */
  event: AccountEventName
  title: string
  ask(services: AdminServices, subject: Subject, context: AdminContext, refusal?: FormRefusal): Asked
  act(services: AdminServices, subject: Subject, context: AdminContext, caller: Caller): Promise<Outcome>
}

const findSubject = async (services: AdminServices, id: string | undefined): Promise<Subject> => {
  const user = await requireShownUser(services, id)
  const { count } = await services.sessions.list(user.id, 1)
  return { user, sessions: count, grants: await findGrants(services, user.id) }
}

/** Makes the form of an act: it asks, checks the reason, acts, logs, and says what was done. */
export const createUserForm = (services: AdminServices, { title, ask, act, event }: UserAct): AdminForm => {
  const { site, logEvent } = services
  return {
    async show(context, refusal) {
      const subject = await findSubject(services, context.parameters.id)
      const { user } = subject
      const asked = ask(services, subject, context, refusal)
      const back = `/users/${user.id}`
      if (typeof asked !== 'string') {
        const about = html`${user.email} · ${user.username}`
        return askPage(site, context, { tab: 'Users', title, back, about, ...asked }, refusal)
      }
      const body = html`<div class="narrow"><h1>${title}</h1><p>${asked}</p>
<p><a href="${context.at(back)}">${user.email}</a></p></div>`
      return site.page(context, { title, tab: 'Users', body, status: refusal?.status ?? 200 })
    },

    async act(context) {
      const subject = await findSubject(services, context.parameters.id)
      const { id } = subject.user
      const asked = ask(services, subject, context)
      if (typeof asked === 'string') throw new AppError('conflict', asked)
      const outcome = await act(services, subject, context, context.caller(readReason(context)))
      logEvent(context, event, { userId: id })
      if (typeof outcome === 'string') return context.redirectDone(`/users/${id}#done`, outcome)
      return 'done' in outcome ? context.redirectDone(outcome.path, outcome.done) : outcome
    },
  }
}

/** Says how many sessions and grants end. */
export const endingLines = ({ sessions, grants }: Subject): string[] => [
  sessions === 0
    ? 'No browser is signed in now.'
    : `${plural(sessions, 'session')} ${sessions === 1 ? 'ends' : 'end'}, at once and everywhere.`,
  ...(grants.length === 0
    ? []
    : [`${plural(grants.length, 'connected application')} ${grants.length === 1 ? 'is' : 'are'} disconnected.`]),
]
