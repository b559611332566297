import type { Client } from '../../clients/clients.ts'
import type { HttpResponse } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { hostOf } from '../../web/site/client-words.ts'
import type { AdminContext, AdminForm } from '../http/context.ts'
import type { AdminAction } from '../policy.ts'
import type { AdminServices } from '../services.ts'
import { type Ask, askPage, readReason } from '../site/ask.ts'
import { actLink, mark, pager, plural, queryOf, things, used } from '../site/parts.ts'

const LIMIT = 50

/** More grants are not counted. */
const MOST_COUNTED = 1000

type Services = Pick<AdminServices, 'clock' | 'loadClients' | 'logEvent' | 'site'>

const MAKERS: Record<Client['kind'], string> = {
  operator: 'made by an operator or the application',
  registered: 'has registered itself',
  document: 'has a metadata document',
}

const countText = (count: number): string =>
  count > MOST_COUNTED ? `more than ${MOST_COUNTED.toLocaleString('en-GB')} grants` : plural(count, 'grant')

/** Shows the clients of the OAuth server, the newest first. */
export const createClientList = ({ clock, loadClients, site }: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const { registry, grants } = await loadClients()
    const cursor = context.query.get('cursor')
    const found = await registry.list(LIMIT + 1, cursor)
    const shown = found.slice(0, LIMIT)
    const counts = await Promise.all(shown.map(({ id }) => grants.countOfClient(id, MOST_COUNTED + 1)))
    const nowMs = clock.now()
    const list = shown.map((client, index) => {
      const { id, name, kind, type, redirectUris, usedAtMs, disabledAtMs, firstParty } = client
      const [uri] = redirectUris
      const place = kind === 'document' ? hostOf(id) : uri?.startsWith('https:') ? hostOf(uri) : 'a program'
      const isDisabled = disabledAtMs !== undefined
      return {
        title: html`<bdi>${name}</bdi>${firstParty && mark('First-party')}${isDisabled && mark('Disabled', 'bad')}`,
        about: html`${type}, at ${place} · ${MAKERS[kind]} · ${countText(counts[index] ?? 0)}`,
        more: html`<code>${id}</code>`,
        acts: html`<span class="when">${used(usedAtMs, nowMs)}</span>${counts[index] !== 0 && linkTo(context, client, 'client.end_grants', 'end-grants', 'End grants')}${isDisabled ? linkTo(context, client, 'client.enable', 'enable', 'Enable') : linkTo(context, client, 'client.disable', 'disable', 'Disable')}`,
      }
    })
    const next = found.length > LIMIT ? shown.at(-1)?.id : undefined
    const body = html`<h1>Clients</h1>
<p class="about">Programs and applications that users give access to their accounts.</p>
${things(list, 'There are no clients.')}${pager(context, { isLater: cursor !== undefined, next })}`
    return site.page(context, { title: 'Clients', tab: 'Clients', body })
  },
})

/** The id of a client may be an address: it stands in the query. */
const linkTo = (context: AdminContext, { id, name }: Client, does: AdminAction, act: string, text: string) =>
  actLink(context, { does, path: `/clients/${act}${queryOf({ id })}`, text, label: `${text}: ${name}` })

interface ClientAct extends Pick<Ask, 'title' | 'ends' | 'button' | 'isDanger'> {
  event: 'client_disconnect' | 'client_disable' | 'client_enable'
  act: (context: AdminContext, client: Client, reason: string | undefined) => Promise<string>
}

const createClientForm = (
  { loadClients, logEvent, site }: Services,
  { event, act, ...asked }: ClientAct,
): AdminForm => {
  const requireClient = async ({ query }: AdminContext): Promise<Client> => {
    const client = await (await loadClients()).registry.show(query.get('id') ?? '')
    if (client) return client
    throw new AppError('not_found', 'There is no such client.')
  }
  return {
    async show(context, refusal) {
      const { name, id } = await requireClient(context)
      const about = html`<bdi>${name}</bdi> · <code>${id}</code>`
      return askPage(site, context, { ...asked, tab: 'Clients', back: '/clients', about }, refusal)
    },
    async act(context) {
      const client = await requireClient(context)
      const done = await act(context, client, readReason(context))
      logEvent(context, event, { clientId: client.id })
      return context.redirectDone('/clients#done', done)
    },
  }
}

/** What can be done to a client, each by the function that the command line and the server API call. */
export const createClientForms = (services: Services) => ({
  endGrants: createClientForm(services, {
    event: 'client_disconnect',
    title: 'End all grants',
    ends: ['The client loses its access to every account, at once and everywhere.', 'Users can connect it again.'],
    button: 'End all grants',
    isDanger: true,
    async act(context, { id, name }, reason) {
      const ended = await (await services.loadClients()).disconnect(undefined, id, context.caller(reason))
      return `${plural(ended, 'grant')} of ${name} ended. Users can connect it again.`
    },
  }),
  disable: createClientForm(services, {
    event: 'client_disable',
    title: 'Disable the client',
    ends: [
      'All its grants end, at once and everywhere.',
      'It gets no access to any account until it is enabled again.',
    ],
    button: 'Disable the client',
    isDanger: true,
    async act(context, { id, name }, reason) {
      await (await services.loadClients()).registry.change(id, { disabled: true }, context.caller(reason))
      return `${name} is disabled, and its grants have ended. To take it back, enable it.`
    },
  }),
  enable: createClientForm(services, {
    event: 'client_enable',
    title: 'Enable the client',
    ends: ['Users can connect it again. Its former grants stay ended.'],
    button: 'Enable the client',
    async act(context, { id, name }, reason) {
      await (await services.loadClients()).registry.change(id, { disabled: false }, context.caller(reason))
      return `${name} is enabled. To take it back, disable it.`
    },
  }),
})
