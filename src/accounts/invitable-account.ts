import type { RecordEvent } from '../audit/audit-event.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { AnnounceUpdate } from './announcement.ts'
import { changeEvents } from './change-events.ts'
import { makeUserInvited } from './invited-account-store.ts'
import { takenError } from './taken.ts'
import type { ApplySecurityEvent } from './security-events.ts'
import { updateRoles, updateUsername, type UserRecord } from './user-store.ts'

/** What an operator gives the account. Undefined: what an account has that was invited before stays. */
interface Given {
  username: string | undefined
  roles: string[] | undefined
}

interface InvitableAccountDeps extends Pick<SessionRules, 'userChanged'> {
  clock: Clock
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  recordEvent: RecordEvent
}

/**
 * Makes an account that exists one that waits for its user, or leaves it one. The user is locked. Of an account that
 * a user made with an address that they never proved, nothing is left that would let them back in. `conflict` for any
 * other account, and for a taken username.
 */
export type MakeInvited = (transaction: Transaction, user: UserRecord, given: Given) => Promise<void>

export const createMakeInvited = (deps: InvitableAccountDeps): MakeInvited => {
  const { clock, applySecurityEvent, announceUpdate, userChanged, recordEvent } = deps

  /** Resolves to what has changed. */
  const takeFromStranger = async (
    transaction: Transaction,
    { id, email, roles: former }: UserRecord,
    roles: string[],
  ): Promise<UserChange[]> => {
    if ((await makeUserInvited(transaction, { id, roles, nowMs: clock.now() })) === 0) throw hasAccount(email)
    const details = { method: 'invitation' }
    await recordEvent(transaction, { type: 'identity.taken_over', userId: id, details })
    await applySecurityEvent(transaction, 'taken_over', { userId: id })
    return JSON.stringify(roles) === JSON.stringify(former) ? [] : ['roles']
  }

  return async (transaction, user, { username, roles }) => {
    const { id, email, disabled, invitedAtMs } = user
    if (disabled) throw new AppError('conflict', `The account of ${email} is disabled: enable it first.`)
    const changed: UserChange[] = []
    if (invitedAtMs === undefined) changed.push(...(await takeFromStranger(transaction, user, roles ?? [])))
    else if (roles && (await updateRoles(transaction, { id, roles, nowMs: clock.now() })) > 0) changed.push('roles')
    if (username !== undefined && (await rename(transaction, { id, username, nowMs: clock.now() })))
      changed.push('username')
    await userChanged(transaction, id)
    await announceUpdate(transaction, id, changed)
    for (const event of changeEvents(id, changed, { roles: roles ?? [] })) await recordEvent(transaction, event)
  }
}

const rename = async (
  transaction: Transaction,
  change: { id: string; username: string; nowMs: number },
): Promise<boolean> => {
  try {
    return (await updateUsername(transaction, change)) > 0
  } catch (error) {
    throw takenError(error)
  }
}

const hasAccount = (email: string): AppError =>
  new AppError('conflict', `${email} has an account already, which its user has entered. It needs no invitation.`)
