import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database } from '../storage/database.ts'
import type { Notify } from './account-notice.ts'
import type { AnnounceUpdate } from './announcement.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import { markEmailVerified } from './email-proof-store.ts'
import { requireRoles } from './roles.ts'
import type { ApplySecurityEvent, RemovedFactors } from './security-events.ts'
import { updatePasswordHash } from './passwords/password-hash-store.ts'
import { lockUserToChange, requireUserById, updateDisabled, updateRoles } from './user-store.ts'
import { renameUser } from './username-change.ts'

interface AdministrationDeps extends Pick<SessionRules, 'userChanged'> {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  announceUpdate: AnnounceUpdate
}

/** What an operator changes of an account. */
export const createAdministration = (deps: AdministrationDeps) => {
  const { db, clock, passwords, userChanged, applySecurityEvent, announceUpdate, notify, requireGoodPassword } = deps
  const { recordEvent } = deps

  return {
    async setPassword(
      id: string,
      entered: string,
      { keepProviders }: { keepProviders?: boolean | undefined } = {},
    ): Promise<string[]> {
      const user = await requireUserById(db, id)
      const hash = await passwords.hash(await requireGoodPassword(entered, [user.email, user.username]))
      return db.inTransaction(async (transaction) => {
        // First: it locks the user, so that no provider is connected at the same moment.
        await updatePasswordHash(transaction, { id, hash, nowMs: clock.now() })
        await recordEvent(transaction, { type: 'password.set', userId: id })
        const { providers } = await applySecurityEvent(transaction, 'password_set', {
          userId: id,
          keepsConnections: keepProviders,
        })
        const how = user.passwordHash === null ? 'set' : 'changed'
        await notify(transaction, id, { kind: 'password_changed', how })
        return providers
      })
    },

    resetSecondFactors: (
      id: string,
      { passkeys: removesPasskeys }: { passkeys: boolean },
      caller?: Caller,
    ): Promise<RemovedFactors> =>
      db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, id)
        await requireUserById(transaction, id)
        await recordEvent(transaction, { type: 'second_factor.reset', userId: id }, caller)
        const facts = { userId: id, removesPasskeys, caller }
        const ended = await applySecurityEvent(transaction, 'second_factor_reset', facts)
        const { codes, recoveryCodes, passkeys, sessions } = ended
        const isChanged = codes || recoveryCodes > 0 || passkeys.length > 0
        if (isChanged)
          await notify(transaction, id, { kind: 'second_factor_reset', codes, passkeys: passkeys.length }, caller)
        return { codes, recoveryCodes, passkeys, sessions }
      }),

    async setRoles(id: string, roles: string[]): Promise<void> {
      const checked = requireRoles(roles)
      await db.inTransaction(async (transaction) => {
        if ((await updateRoles(transaction, { id, roles: checked, nowMs: clock.now() })) === 0) return
        await userChanged(transaction, id)
        await announceUpdate(transaction, id, ['roles'])
        await recordEvent(transaction, { type: 'user.roles_changed', userId: id, details: { roles: checked } })
      })
    },

    setUsername: (id: string, entered: string): Promise<void> => renameUser(deps, { id, entered }),

    async verifyEmail(id: string): Promise<void> {
      await db.inTransaction(async (transaction) => {
        if ((await markEmailVerified(transaction, id, clock.now())) === 0) return
        await userChanged(transaction, id)
        await announceUpdate(transaction, id, ['email_verified'])
        await recordEvent(transaction, { type: 'email.verified', userId: id })
      })
    },

    async setDisabled(id: string, disabled: boolean): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, id)
        const changed = await updateDisabled(transaction, { id, disabled, nowMs: clock.now() })
        if (changed > 0)
          await recordEvent(transaction, { type: disabled ? 'user.disabled' : 'user.enabled', userId: id })
        if (disabled) await applySecurityEvent(transaction, 'disabled', { userId: id })
        if (changed === 0) return
        await userChanged(transaction, id)
        await announceUpdate(transaction, id, ['disabled'])
      })
    },
  }
}
