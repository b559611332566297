import { kindOfRedirect } from '../../clients/redirect-uri.ts'
import type { Client, Clients } from '../../clients/clients.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { t } from '../../languages/texts.ts'
import { hostOf, scopesInWords } from '../site/client-words.ts'
import type { ApplicationView } from './applications-section.ts'

/** Names the host of a client: that of its metadata document, or else where it is sent. A program may be anywhere. */
const placeOfClient = ({ kind, id, redirectUris }: Client): string => {
  if (kind === 'document') return hostOf(id)
  const page = redirectUris.find((uri) => kindOfRedirect(uri) === 'https')
  return page === undefined ? t('account.applications.program') : hostOf(page)
}

/**
 * Lists the clients that have access to the account of a user, the last used first. The result is undefined if the OAuth
 * server is off.
 */
export const findApplications = async (
  { hasClients, loadClients }: Pick<Services, 'hasClients' | 'loadClients'>,
  userId: string,
  app: string,
): Promise<ApplicationView[] | undefined> => {
  if (!hasClients) return undefined
  const { grants, registry, settings }: Clients = await loadClients()
  const all = await grants.list(userId)
  const ids = [...new Set(all.map(({ clientId }) => clientId))]
  const found = await Promise.all(ids.map((id) => registry.show(id)))
  return found.flatMap((client) => {
    if (!client) return []
    const own = all.filter(({ clientId }) => clientId === client.id)
    const scopes = [...new Set(own.flatMap((grant) => grant.scopes))]
    return {
      clientId: client.id,
      name: client.name,
      place: placeOfClient(client),
      scopes: scopesInWords(scopes, settings.scopes, app),
      sinceMs: Math.min(...own.map(({ createdAtMs }) => createdAtMs)),
      lastUsedMs: Math.max(...own.map(({ lastUsedAtMs }) => lastUsedAtMs)),
    }
  })
}

/** Disconnects the client that a form names, or all of them; resolves to what the account page says then. */
export const disconnect = async (
  { loadClients }: Pick<Services, 'loadClients'>,
  context: RequestContext,
  userId: string,
  facts: EventFacts,
): Promise<'client' | 'clients'> => {
  const clientId = context.form.get('client_id')
  const isAll = context.form.get('all') === '1'
  if (!clientId && !isAll)
    throw new AppError('invalid_request', 'Say which application: client_id, or all=1.', { field: 'client_id' })
  const clients = await loadClients()
  const count = await clients.disconnect(userId, isAll ? undefined : clientId, context)
  facts.count = count
  // A field that names nothing stays out of the log.
  if (!isAll && count > 0) facts.clientId = clientId
  return isAll ? 'clients' : 'client'
}
