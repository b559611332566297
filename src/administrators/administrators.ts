import { randomUUIDv7 } from 'node:crypto'
import { requireEmail } from '../accounts/fields.ts'
import type { AuditEvent } from '../audit/audit-event.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { isUniqueViolation, type Transaction } from '../storage/database.ts'
import {
  type Administrator,
  type AdministratorRole,
  administratorSecretHash,
  noSuchAdministrator,
  requireAdministratorName,
} from './administrator.ts'
import { type AdministratorsDeps, createNotifyAdministrator } from './administrator-notices.ts'
import { deleteAdministratorSessions } from './administrator-session-store.ts'
import {
  type AdministratorRecord,
  deleteAdministrator,
  deleteAdministratorPasskeys,
  findAdministrators,
  insertAdministrator,
  type ListedAdministrator,
  lockAdministratorNamed,
  setInvite,
  updateAdministratorRole,
} from './administrator-store.ts'
import { createEntrance, type Entrance } from './entrance.ts'

export type { AdministratorRole, AdministratorSession } from './administrator.ts'
export type { ListedAdministrator } from './administrator-store.ts'
export type { Entrance } from './entrance.ts'

/** A link in which the first passkey is made. Nothing else lets an administrator in who has none. */
export interface AdministratorInvitation {
  administrator: Administrator
  url: string
  expiresAtMs: number
}

/** Those who help users in the pages at `SVC_ADMIN_URL`. The command line alone makes them. */
export interface Administrators {
  /** `unprocessable` for a bad name or email, `conflict` for a taken name. */
  invite(given: { name: string; email: string; role: AdministratorRole }): Promise<AdministratorInvitation>
  list(): Promise<ListedAdministrator[]>
  /** Ends the sessions of the administrator. `not_found` without one of this name, as below. */
  setRole(name: string, role: AdministratorRole): Promise<{ administrator: Administrator; sessions: number }>
  /** Ends sessions and passkeys, and makes a new link. */
  reset(name: string): Promise<AdministratorInvitation & { sessions: number; passkeys: number }>
  remove(name: string): Promise<{ administrator: Administrator; sessions: number }>
  /** How administrators come in. */
  entrance: Entrance
}

/** A link is good for this long. */
const INVITE_LIFETIME_MS = 3_600_000

export const createAdministrators = (deps: AdministratorsDeps): Administrators => {
  const { db, clock, recordEvent, adminUrl } = deps
  const notify = createNotifyAdministrator(deps)

  const requireUrl = (): string => {
    if (adminUrl !== undefined) return adminUrl
    throw new AppError(
      'invalid_request',
      'There are no pages for administrators: set SVC_ADMIN_URL and SVC_ADMIN_PORT.',
    )
  }

  /** Gives an administrator a link, in place of any other. */
  const makeInvite = async (transaction: Transaction, { id, readAtMs = clock.now() }: AdministratorRecord) => {
    const token = randomToken(32)
    const expiresAtMs = readAtMs + INVITE_LIFETIME_MS
    await setInvite(transaction, id, { hash: administratorSecretHash(token), expiresAtMs })
    return { url: `${requireUrl()}/join?token=${token}`, expiresAtMs }
  }

  const change = <T>(
    name: string,
    work: (transaction: Transaction, it: AdministratorRecord) => Promise<T>,
  ): Promise<T> =>
    db.inTransaction(async (transaction) => {
      const administrator = await lockAdministratorNamed(transaction, name)
      if (!administrator) throw noSuchAdministrator(name)
      return work(transaction, administrator)
    })

  return {
    async invite({ name, email, role }) {
      requireUrl()
      const administrator = {
        id: randomUUIDv7(),
        name: requireAdministratorName(name),
        email: requireEmail(email).shown,
        role,
        createdAtMs: clock.now(),
      }
      try {
        return await db.inTransaction(async (transaction) => {
          await insertAdministrator(transaction, { ...administrator, userHandle: randomToken(32) })
          await recordEvent(transaction, eventOf('administrator.invited', administrator))
          const stored = await lockAdministratorNamed(transaction, name)
          if (!stored) throw noSuchAdministrator(name)
          return { administrator, ...(await makeInvite(transaction, stored)) }
        })
      } catch (error) {
        if (isUniqueViolation(error, 'administrators.name')) throw taken(name)
        throw error
      }
    },

    list: () => findAdministrators(db, clock.now()),

    setRole: (name, role) =>
      change(name, async (transaction, former) => {
        const administrator = { ...former, role }
        await updateAdministratorRole(transaction, former.id, role)
        const sessions = await deleteAdministratorSessions(transaction, former.id)
        await recordEvent(transaction, eventOf('administrator.role_changed', administrator))
        await notify(transaction, administrator, 'access_changed')
        return { administrator, sessions }
      }),

    reset: (name) =>
      change(name, async (transaction, administrator) => {
        const sessions = await deleteAdministratorSessions(transaction, administrator.id)
        const passkeys = await deleteAdministratorPasskeys(transaction, administrator.id)
        await recordEvent(transaction, eventOf('administrator.reset', administrator))
        await notify(transaction, administrator, 'access_changed')
        return { administrator, sessions, passkeys, ...(await makeInvite(transaction, administrator)) }
      }),

    remove: (name) =>
      change(name, async (transaction, administrator) => {
        const sessions = await deleteAdministratorSessions(transaction, administrator.id)
        await deleteAdministrator(transaction, administrator.id)
        await recordEvent(transaction, eventOf('administrator.removed', administrator))
        await notify(transaction, administrator, 'access_changed')
        return { administrator, sessions }
      }),

    entrance: createEntrance({ ...deps, notify }),
  }
}

const eventOf = (type: AuditEvent['type'], { name: administrator, role }: Administrator): AuditEvent => ({
  type,
  details: { administrator, roles: [role] },
})

const taken = (name: string): AppError =>
  new AppError('conflict', `There is an administrator ${name} already: reset gives them a new link.`, { field: 'name' })
