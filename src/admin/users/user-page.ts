import { lockUserToChange } from '../../accounts/user-store.ts'
import { hasRecordSince } from '../../audit/reading-store.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Caller } from '../../lib/caller.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../../web/site/device.ts'
import type { AdminContext } from '../http/context.ts'
import { eventThings } from '../events/event-things.ts'
import type { AdminAction } from '../policy.ts'
import type { AdminServices } from '../services.ts'
import { ago, actLink, mark, facts, moment, panelSection, things } from '../site/parts.ts'
import { messageThing } from '../deliveries/delivery-things.ts'
import { type Account, type AccountServices, findAccount } from './account.ts'
import { badgesOf, accountState } from './user-state.ts'

type UserPageServices = AccountServices &
  Pick<AdminServices, 'db' | 'door' | 'emailDomains' | 'oauth' | 'site' | 'users'>

export const createUserPage = (services: UserPageServices) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const account = await findAccount(services, context.parameters.id)
    await recordView(services, account.user.id, context.caller())
    const labelOf = createLabels(services)
    const { user } = account
    const body = html`<div><p class="back"><a href="${context.at('/')}">Users</a></p>
<h1>${user.email}</h1></div>
<div>${accountState(account, labelOf)}</div>
${profile(context, account)}${waysInSection(context, account, labelOf)}${sessionSection(context, account)}${account.grants.length > 0 && grantSection(context, account)}${account.links.length + account.messages.length > 0 && linkSection(context, account)}${eventSection(context, account)}${endSection(context, account)}`
    return services.site.page(context, { title: user.email, tab: 'Users', body })
  },
})

const HOUR_MS = 3_600_000

/** Records that an operator looks at a user, once an hour for the two of them. */
const recordView = async (
  { db, audit, clock }: Pick<AdminServices, 'audit' | 'clock' | 'db'>,
  userId: string,
  caller: Caller,
): Promise<void> => {
  const about = { userId, type: 'user.viewed', actor: caller.actor ?? '', sinceMs: clock.now() - HOUR_MS } as const
  if (await hasRecordSince(db, about)) return
  await db.inTransaction(async (transaction) => {
    // Two tabs are one after the other, so that the second finds the record of the first.
    await lockUserToChange(transaction, userId)
    if (!(await hasRecordSince(transaction, about)))
      await audit.record(transaction, { type: 'user.viewed', userId }, caller)
  })
}

/** A provider may still be connected after it was removed from the settings. */
export const createLabels =
  ({ oauth }: Pick<AdminServices, 'oauth'>) =>
  (provider: string): string =>
    oauth.providers.find(({ name }) => name === provider)?.label ?? provider

const pathOf = ({ user }: Account, act: string): string => `/users/${user.id}/${act}`

const profile = (context: AdminContext, account: Account): HtmlFragment => {
  const { user, nowMs } = account
  const isVerified = user.emailVerifiedAtMs !== undefined
  const changeLink = (does: AdminAction, act: string, label: string) =>
    actLink(context, { does, path: pathOf(account, act), text: 'Change', label })
  const emailActs = html`${!isVerified && actLink(context, { does: 'user.verify_email', path: pathOf(account, 'verify-email'), text: 'Vouch for it' })}${changeLink('user.set_email', 'email', 'Change the email address')}`
  return panelSection(
    'profile',
    'Profile',
    facts([
      {
        name: 'Email',
        value: html`${user.email}${isVerified && mark('Verified', 'good')}${badgesOf(user, true)}`,
        acts: emailActs,
      },
      {
        name: 'Username',
        value: user.username,
        acts: changeLink('user.set_username', 'username', 'Change the username'),
      },
      typeof user.name === 'string' && { name: 'Name', value: html`<bdi>${user.name}</bdi>` },
      {
        name: 'Roles',
        value: user.roles.join(', ') || 'none',
        acts: changeLink('user.set_roles', 'roles', 'Change the roles'),
      },
      { name: 'Id', value: html`<code>${user.id}</code>` },
      {
        name: 'Created',
        value: html`${ago(user.createdAtMs, nowMs)}, ${user.isSelfMade ? 'by the user' : 'by an operator or the application'}`,
      },
    ]),
  )
}

const waysInSection = (context: AdminContext, account: Account, labelOf: (name: string) => string): HtmlFragment => {
  const { user, passkeys, recoveryCodes, nowMs } = account
  const isInvited = user.invitedAtMs !== undefined
  const link = isInvited
    ? actLink(context, { does: 'user.invite_again', path: pathOf(account, 'invite-again'), text: 'Invite again' })
    : actLink(context, { does: 'user.reset_link', path: pathOf(account, 'reset-link'), text: 'Send a reset link' })
  const hasFactor = user.hasCodes || passkeys.length > 0 || recoveryCodes > 0
  const reset = {
    does: 'user.reset_second_factor',
    path: pathOf(account, 'reset-second-factor'),
    text: 'Reset',
  } as const
  return panelSection(
    'ways-in',
    'Ways in',
    facts([
      {
        name: 'Password',
        value: user.hasPassword ? 'set' : 'none',
        acts: html`${actLink(context, { does: 'user.unlock', path: pathOf(account, 'unlock'), text: 'Unlock' })}${!user.disabled && link}`,
      },
      ...user.identities.map(({ provider, email, subject }) => ({
        name: labelOf(provider),
        value: html`<bdi>${email ?? subject}</bdi>`,
      })),
      ...passkeys.map(({ name, createdAtMs, lastUsedAtMs }) => ({
        name: 'Passkey',
        value: html`<bdi>${name}</bdi> <span class="about">added ${ago(createdAtMs, nowMs)}, last used ${ago(lastUsedAtMs, nowMs)}</span>`,
      })),
      {
        name: 'Second step',
        value: user.hasCodes ? 'codes of an app' : 'no app',
        acts: hasFactor ? actLink(context, { ...reset, label: 'Reset the second step' }) : undefined,
      },
      (user.hasCodes || passkeys.length > 0) && { name: 'Recovery codes', value: `${recoveryCodes} left` },
    ]),
  )
}

const sessionSection = (context: AdminContext, account: Account): HtmlFragment => {
  const { sessions, sessionCount, nowMs } = account
  const endAll = actLink(context, {
    does: 'user.end_sessions',
    path: pathOf(account, 'end-sessions'),
    text: 'End all',
    label: 'End all sessions',
  })
  const hidden = sessionCount - sessions.length
  const list = sessions.map(({ id, userAgent, address, lastSeenAtMs, createdAtMs }) => ({
    title: deviceName(userAgent),
    about: html`${address} · signed in ${ago(createdAtMs, nowMs)}`,
    more: html`<code>${id}</code>`,
    acts: html`<span class="when">${ago(lastSeenAtMs, nowMs)}</span>${actLink(context, {
      does: 'user.end_session',
      path: `${pathOf(account, 'end-session')}?session=${id}`,
      text: 'End',
      label: `End the session in ${deviceName(userAgent)}`,
    })}`,
  }))
  const foot = html`<div class="head"><span class="about">${hidden > 0 && `${hidden} more`}</span>${endAll}</div>`
  return panelSection(
    'sessions',
    'Sessions',
    things(list, 'No browser is signed in.', sessionCount > 1 && endAll ? foot : undefined),
  )
}

const grantSection = (context: AdminContext, account: Account): HtmlFragment => {
  const list = account.grants.map((grant) => {
    const name = grant.clientName ?? grant.clientId
    return {
      title: html`<bdi>${name}</bdi>`,
      about: html`${grant.scopes.join(' ') || 'no scopes'}${grant.resource !== undefined && ` · for ${grant.resource}`}`,
      more: html`<code>${grant.id}</code>`,
      acts: html`<span class="when">used ${ago(grant.lastUsedAtMs, account.nowMs)}</span>${actLink(context, {
        does: 'user.end_grant',
        path: `${pathOf(account, 'end-grant')}?grant=${grant.id}`,
        text: 'Disconnect',
        label: `Disconnect ${name}`,
      })}`,
    }
  })
  return panelSection('applications', 'Connected applications', things(list, 'No application is connected.'))
}

const endOf = ({ endedBy, expiresAtMs }: Account['links'][number], nowMs: number): string =>
  endedBy ?? (expiresAtMs > nowMs ? 'live' : 'expired')

const linkSection = (context: AdminContext, { links, messages, nowMs }: Account): HtmlFragment => {
  const shownLinks = links.map((link) => ({
    title: html`Link: ${link.purpose.replaceAll('_', ' ')}${mark(endOf(link, nowMs), endOf(link, nowMs) === 'live' ? 'good' : 'plain')}`,
    about: html`made ${ago(link.createdAtMs, nowMs)}, good until ${moment(link.expiresAtMs)}`,
  }))
  const shownMessages = messages.map((message) => messageThing(context, message, nowMs))
  const list = [...shownMessages, ...shownLinks]
  return panelSection('links', 'Links and messages', things(list, 'Nothing was sent in the last weeks.'))
}

const eventSection = (context: AdminContext, { user, events, nowMs }: Account): HtmlFragment => {
  const all = html`<a href="${context.at(`/events?user=${user.id}`)}">All that happened</a>`
  const list = eventThings(context, events, { nowMs, isOfUser: true })
  return panelSection(
    'events',
    'What happened',
    things(list, 'Nothing is recorded.', events.length > 0 ? all : undefined),
  )
}

const endSection = (context: AdminContext, account: Account): HtmlFragment | undefined => {
  const switched = account.user.disabled
    ? actLink(context, { does: 'user.enable', path: pathOf(account, 'enable'), text: 'Enable the account' })
    : actLink(context, { does: 'user.disable', path: pathOf(account, 'disable'), text: 'Disable the account' })
  const removal = {
    does: 'user.delete',
    path: pathOf(account, 'delete'),
    text: 'Delete the account',
    isDanger: true,
  } as const
  const acts = html`${switched}${actLink(context, removal)}`
  return acts.toString() === '' ? undefined : html`<div class="acts end">${acts}</div>`
}
