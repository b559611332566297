import { canonicalAddress } from '../../lib/address.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { AdminServices } from '../services.ts'

export type FindServices = Pick<
  AdminServices,
  'audit' | 'hasClients' | 'loadClients' | 'mail' | 'sessions' | 'users' | 'webhooks'
>

const REQUEST_ID = /^[0-9a-f]{20}$/

/** Takes away what stands around a value where it was copied: quotes, brackets, commas, and `mailto:`. */
const bare = (pasted: string): string =>
  pasted
    .trim()
    .replace(/^["'<([{]+|["'>)\]},;]+$/g, '')
    .replace(/^mailto:/i, '')
    .trim()

/**
 * Finds the page of what was pasted: a whole email address, the id of a user, a session, a grant, a request, a webhook or a
 * message, or a network address. Resolves to undefined for a part of a name.
 */
export const findPage = async (services: FindServices, pasted: string): Promise<string | undefined> => {
  const text = bare(pasted)
  const id = text.toLowerCase()
  if (REQUEST_ID.test(id)) return `/events?request=${id}`
  if (isUuid(id)) return findById(services, id)
  const address = canonicalAddress(text)
  if (address !== undefined) return `/events?address=${encodeURIComponent(address)}`
  if (!text.includes('@')) return undefined
  const user = await services.users.find(text)
  return user && `/users/${user.id}`
}

const orNothing = async <T>(found: Promise<T>): Promise<T | undefined> => {
  try {
    return await found
  } catch {
    return undefined
  }
}

const findById = async (services: FindServices, id: string): Promise<string> => {
  const { audit, users, sessions, webhooks, mail } = services
  if (await users.find(id)) return `/users/${id}`
  const session = await sessions.find(id)
  if (session) return `/users/${session.userId}#sessions`
  const grant = services.hasClients ? await (await services.loadClients()).grants.find(id) : undefined
  if (grant) return `/users/${grant.grant.userId}#applications`
  if (await orNothing(webhooks.requireEvent(id))) return `/deliveries/webhooks/${id}`
  if (await orNothing(mail.requireMessage(id))) return `/deliveries/messages/${id}`
  // What has ended is known by its records, and so is a deleted user.
  const userId = await audit.findUserOfEnded(id)
  return userId === undefined ? `/events?user=${id}` : `/users/${userId}#events`
}
