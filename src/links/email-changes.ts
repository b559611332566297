import type { Caller } from '../lib/caller.ts'
import { deleteEndedReservations } from '../accounts/email-store.ts'
import { orEmailTaken } from '../accounts/fields.ts'
import { lockUserToChange, requireUserById } from '../accounts/user-store.ts'
import { emailOfLink, type Link } from './link.ts'
import type { LinksDeps } from './links-deps.ts'

/** Makes changes of address that a link to the new address confirms. */
export interface EmailChanges {
  /** Gives the address of the account, and the one that it gets when the link is confirmed. */
  describe(link: Link): Promise<{ email: string; newEmail: string }>
  /** Throws `gone` when the link is no longer good, and `conflict` when another account has the address by now. */
  confirm(link: Link, caller: Caller): Promise<void>
  /** Deletes reservations of old addresses that have ended, for cleanup; it resolves to how many. */
  deleteEndedReservations(nowMs: number): Promise<number>
}

export const createEmailChanges = ({
  db,
  links,
  change,
}: Pick<LinksDeps, 'change' | 'db' | 'links'>): EmailChanges => ({
  async describe(link) {
    const { email } = await requireUserById(db, link.userId ?? '')
    return { email, newEmail: emailOfLink(link).shown }
  },

  confirm: (link, caller) =>
    orEmailTaken(() =>
      db.inTransaction(async (transaction) => {
        const { userId = '', createdAtMs: askedAtMs } = link
        await lockUserToChange(transaction, userId)
        await links.use(transaction, link)
        const changes = { email: emailOfLink(link), emailVerified: true }
        await change(transaction, userId, changes, { by: 'confirmation', askedAtMs, caller })
      }),
    ),

  deleteEndedReservations: (nowMs) => deleteEndedReservations(db, nowMs),
})
