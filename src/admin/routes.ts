import { type Awaitable, after } from '../lib/awaitable.ts'
import { once } from '../lib/on-demand.ts'
import type { AdminRoute } from './http/context.ts'
import type { AdminServices } from './services.ts'
import { createEntry } from './entry.ts'
import type { Entrance } from '../administrators/administrators.ts'
import type { OriginDoor } from './entrance/origin-door.ts'
import type { MachineDoor } from './machine-door.ts'
import { USER_ACTS } from './users/user-acts.ts'
import { createUserForm } from './users/user-act.ts'

/** Loads a module with the first request for it. */
const lazily = <Module>(load: () => Promise<Module>): (() => Awaitable<Module>) => once(load)

const partOf =
  <Parts extends object, Name extends keyof Parts>(load: () => Awaitable<Parts>, name: Name) =>
  (): Awaitable<Parts[Name]> =>
    after(load(), (parts) => parts[name])

/** The rows of both doors. */
const commonRoutes = (services: AdminServices): AdminRoute[] => {
  const users = lazily(async () => (await import('./users/user-list.ts')).createUserList(services))
  const user = lazily(async () => (await import('./users/user-page.ts')).createUserPage(services))
  const invite = lazily(async () => (await import('./users/invite.ts')).createInviteForm(services))
  const events = lazily(async () => (await import('./events/event-list.ts')).createEventList(services))
  const exportEvents = lazily(async () => (await import('./events/event-export.ts')).createEventExport(services))
  const deliveries = lazily(async () => (await import('./deliveries/delivery-list.ts')).createDeliveryList(services))
  const one = lazily(async () => (await import('./deliveries/one-delivery.ts')).createDeliveryPages(services))
  const clients = lazily(async () => (await import('./clients/client-list.ts')).createClientList(services))
  const clientForms = lazily(async () => (await import('./clients/client-list.ts')).createClientForms(services))
  const system = lazily(async () => (await import('./system/system-page.ts')).createSystemPage(services))

  // biome-ignore format: a table is read by its columns
  return [
    { method: 'GET',  path: '/',                               does: 'users.list',       module: users },
    { method: 'GET',  path: '/users/{id}',                     does: 'user.view',        module: user },
    ...USER_ACTS.map((act): AdminRoute => ({ method: 'FORM', path: `/users/{id}/${act.path}`, does: act.does, module: () => createUserForm(services, act) })),
    { method: 'FORM', path: '/invite',                         does: 'user.invite',      module: invite },
    { method: 'GET',  path: '/events',                         does: 'events.list',      module: events },
    { method: 'FORM', path: '/events/export',                  does: 'events.export',    module: exportEvents },
    { method: 'GET',  path: '/deliveries',                     does: 'deliveries.list',  module: deliveries },
    { method: 'GET',  path: '/deliveries/webhooks/{id}',       does: 'deliveries.list',  module: partOf(one, 'webhook') },
    { method: 'FORM', path: '/deliveries/webhooks/{id}/again', does: 'delivery.send',    module: partOf(one, 'webhookAgain') },
    { method: 'GET',  path: '/deliveries/messages/{id}',       does: 'deliveries.list',  module: partOf(one, 'message') },
    { method: 'FORM', path: '/deliveries/messages/{id}/again', does: 'delivery.send',    module: partOf(one, 'messageAgain') },
    { method: 'FORM', path: '/deliveries/again',               does: 'delivery.send',    module: partOf(one, 'failedAgain') },
    { method: 'GET',  path: '/clients',                        does: 'clients.list',     needs: 'clients', module: clients },
    { method: 'FORM', path: '/clients/end-grants',             does: 'client.end_grants', needs: 'clients', module: partOf(clientForms, 'endGrants') },
    { method: 'FORM', path: '/clients/disable',                does: 'client.disable',   needs: 'clients', module: partOf(clientForms, 'disable') },
    { method: 'FORM', path: '/clients/enable',                 does: 'client.enable',    needs: 'clients', module: partOf(clientForms, 'enable') },
    { method: 'GET',  path: '/system',                         does: 'system.view',      module: partOf(system, 'page') },
    { method: 'POST', path: '/system/examine',                 does: 'system.examine',   module: partOf(system, 'examine') },
    { method: 'GET',  path: '/assets/{file}',                  does: 'none',             module: () => ({ handle: (context) => services.site.handleAsset(context) }) },
  ]
}

/** THE table of routes of `svc admin`. Any other path is 404. */
export const machineRoutes = (services: AdminServices, door: MachineDoor): AdminRoute[] => [
  { method: 'GET', path: '/enter', does: 'none', module: () => createEntry(services.site, door) },
  ...withoutSwitchedOff(commonRoutes(services), services),
]

/** THE table of routes at `SVC_ADMIN_URL`. Any other path is 404. */
export const originRoutes = (services: AdminServices, door: OriginDoor, entrance: Entrance): AdminRoute[] => {
  const deps = { ...services, entrance, origin: door.origin }
  const signIn = lazily(async () => (await import('./entrance/sign-in.ts')).createAdminSignIn(deps))
  const join = lazily(async () => (await import('./entrance/join.ts')).createJoin(deps))
  const own = lazily(async () => (await import('./entrance/own-passkeys.ts')).createOwnPasskeyPages(deps))

  // biome-ignore format: a table is read by its columns
  return [
    ...withoutSwitchedOff(commonRoutes(services), services),
    { method: 'POST', path: '/passkeys/login/options',    does: 'none',       takesJson: true, module: partOf(signIn, 'options') },
    { method: 'POST', path: '/passkeys/login',            does: 'none',       takesJson: true, module: partOf(signIn, 'submit') },
    { method: 'POST', path: '/sign-out',                  does: 'own.change', module: partOf(signIn, 'signOut') },
    { method: 'GET',  path: '/join',                      does: 'none',       module: partOf(join, 'page') },
    { method: 'POST', path: '/join/register/options',     does: 'none',       takesJson: true, module: partOf(join, 'options') },
    { method: 'POST', path: '/join/register',             does: 'none',       takesJson: true, module: partOf(join, 'submit') },
    { method: 'FORM', path: '/passkeys',                  does: 'own.change', module: partOf(own, 'list') },
    { method: 'POST', path: '/passkeys/register/options', does: 'own.change', takesJson: true, module: partOf(own, 'options') },
    { method: 'POST', path: '/passkeys/register',         does: 'own.change', takesJson: true, module: partOf(own, 'submit') },
    { method: 'FORM', path: '/passkeys/{id}/remove',      does: 'own.change', module: partOf(own, 'remove') },
  ]
}

const withoutSwitchedOff = (routes: AdminRoute[], { hasClients }: AdminServices): AdminRoute[] =>
  routes.filter(({ needs }) => needs !== 'clients' || hasClients)
