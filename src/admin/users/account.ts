import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import type { AuditRow } from '../../audit/audit.ts'
import type { Grant } from '../../clients/clients.ts'
import { AppError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { IssuedLink } from '../../links/link.ts'
import type { OutboxMessage } from '../../mail/mail.ts'
import type { Passkey } from '../../passkeys/passkeys.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { AdminServices } from '../services.ts'

/** The page of a user shows so many of each, and leads to the others. */
const SHOWN = { sessions: 20, messages: 10, links: 10, events: 50 } as const

/** A client that may use the account. */
export interface ShownGrant extends Grant {
  clientName: string | undefined
}

/** A user, and all that is known of their account. */
export interface Account {
  user: DirectoryUser
  nowMs: number
  passkeys: readonly Passkey[]
  recoveryCodes: number
  sessions: readonly Session[]
  sessionCount: number
  grants: readonly ShownGrant[]
  links: readonly IssuedLink[]
  messages: readonly OutboxMessage[]
  events: readonly AuditRow[]
}

/** Finds a user by the id in an address. Throws `not_found`. */
export const requireShownUser = async (
  { loadDirectory }: Pick<AdminServices, 'loadDirectory'>,
  id: string | undefined,
): Promise<DirectoryUser> => {
  const user = isUuid(id) ? await (await loadDirectory()).find(id) : undefined
  if (user) return user
  throw new AppError('not_found', 'There is no such user.', { reason: 'no_user' })
}

export type AccountServices = Pick<
  AdminServices,
  | 'audit'
  | 'clock'
  | 'hasClients'
  | 'links'
  | 'loadClients'
  | 'loadDirectory'
  | 'mail'
  | 'passkeys'
  | 'secondFactors'
  | 'sessions'
>

/** Finds the grants of a user, with the names of their clients. */
export const findGrants = async (
  { hasClients, loadClients }: Pick<AdminServices, 'hasClients' | 'loadClients'>,
  userId: string,
): Promise<ShownGrant[]> => {
  if (!hasClients) return []
  const { grants, registry } = await loadClients()
  const found = await grants.list(userId)
  return Promise.all(
    found.map(async (grant) => ({ ...grant, clientName: (await registry.show(grant.clientId))?.name })),
  )
}

export const findAccount = async (services: AccountServices, id: string | undefined): Promise<Account> => {
  const { audit, clock, links, mail, passkeys, secondFactors, sessions } = services
  const user = await requireShownUser(services, id)
  const { id: userId } = user
  const [listed, grants, latestLinks, messages, { events }, factors, ownPasskeys] = await Promise.all([
    sessions.list(userId, SHOWN.sessions),
    findGrants(services, userId),
    links.issued.listOfUser(userId, SHOWN.links),
    mail.listPage({ userId, limit: SHOWN.messages }),
    audit.list({ userId, limit: SHOWN.events }),
    secondFactors.find(userId),
    passkeys.isOn ? passkeys.list(userId) : [],
  ])
  return {
    user,
    nowMs: clock.now(),
    passkeys: ownPasskeys,
    recoveryCodes: factors.recoveryCodes,
    sessions: listed.sessions,
    sessionCount: listed.count,
    grants,
    links: latestLinks,
    messages,
    events,
  }
}
