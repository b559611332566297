import type { Caller } from '../lib/caller.ts'
import { checkAll, checkAllInTurn } from '../lib/errors.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { amrOf, authenticatedBy } from '../sign-in/amr.ts'
import type { Transaction } from '../storage/database.ts'
import { findUserById, type UserRecord } from '../accounts/user-store.ts'
import { requireUsername } from '../accounts/fields.ts'
import type { Connectable, Entered, EnteringBrowser, EntryTableDeps } from './entry-row.ts'
import { createEntryTable } from './entry-table.ts'
import type { EnteringPurpose, Link } from './link.ts'
import type { LinksDeps } from './links-deps.ts'
import type { AskedFactor, ProvedFactor } from '../sign-in/asked-factor.ts'

export interface LinkEntry {
  /** The link was live when it was read. */
  link: Link
  /**
   * The user signs in with this from now on. If `username` is empty, that of the account stays; so does the name if
   * `name` is left out, and null takes it away.
   */
  chosen: { password: string; username?: string | undefined; name?: string | null | undefined } | Connectable
  /**
   * It tells whether the browser has a session of the account: then the proof of an unverified address is no take-over.
   */
  isOwnSession: boolean
  /** It is the second factor that was proved, if the account has one. */
  factor: ProvedFactor | undefined
  /** It is left out where any browser will do. */
  browser?: EnteringBrowser
  caller: Caller
}

/** The entry was checked. Nothing was changed yet. */
export interface CheckedEntry {
  grant: SignInGrant
  /** Uses the link up, and changes the account; it throws a `DeadLinkError` when another request was first. */
  apply: (transaction: Transaction) => Promise<void>
}

/**
 * Lets users into an account by a link to a new password, a link that puts an address back, an invitation, or a link
 * that signs in.
 */
export interface Entries {
  /**
   * Finds the account of a live link; it throws a `DeadLinkError` when that is no longer the one that the link was made
   * for.
   */
  requireAccount(link: Link): Promise<UserRecord>
  /**
   * Finds the second factor that must be proved before anything changes; it resolves to undefined if none is asked for.
   */
  findAsked(entered: Pick<LinkEntry, 'link' | 'isOwnSession'>): Promise<AskedFactor | undefined>
  /** Tells whether the entry by a link that signs in gives an account that nobody has proved to the owner of its address. */
  reclaims(entered: Entered): Promise<boolean>
  /**
   * Tells whether a link that puts an address back waits: the account is disabled. An operator may have disabled it
   * because of a thief, who can have a link like this one, and only the operator can tell the two apart.
   */
  waits(link: Link): Promise<boolean>
  /**
   * Checks and hashes a new password, or checks the choice in its place. It throws `unprocessable` when it breaks a
   * rule, and `forbidden` for an invitation whose address the provider has not verified: then the link stays good.
   */
  check(entry: LinkEntry): Promise<CheckedEntry>
}

type EntriesDeps = EntryTableDeps & Pick<LinksDeps, 'clock' | 'names' | 'passwords' | 'requireGoodPassword'>

export const createEntries = (deps: EntriesDeps): Entries => {
  const { db, clock, passwords, requireGoodPassword, names } = deps
  const table = createEntryTable(deps)
  const rowOf = ({ purpose }: Link) => table[purpose as EnteringPurpose]

  const checkChosen = async ({ link, chosen, caller }: LinkEntry, user: UserRecord) => {
    if (!('password' in chosen)) {
      rowOf(link).requireConnectable?.(link, user, chosen)
      if (!chosen.typed) return { method: chosen.method, name: user.name ?? names.accept(chosen.fullName) }
      const { username, name } = chosen.typed
      const checked = checkAll({
        username: () => (username ? requireUsername(username) : undefined),
        name: () => names.require(name, user.name),
      })
      return { method: chosen.method, ...checked }
    }
    const { email = user.email } = link.details
    const checked = await checkAllInTurn({
      username: () => (chosen.username ? requireUsername(chosen.username) : undefined),
      name: () => (link.purpose === 'invite' ? names.require(chosen.name, user.name) : undefined),
      password: () => requireGoodPassword(chosen.password, [email, chosen.username || user.username]),
    })
    const passwordHash = await passwords.hash(checked.password, caller)
    return { method: 'password', passwordHash, username: checked.username, name: checked.name }
  }

  return {
    requireAccount: async (link) => rowOf(link).requireAccount(link),

    async findAsked({ link, isOwnSession }) {
      const row = rowOf(link)
      return row.findAsked(link, await row.requireAccount(link), isOwnSession)
    },

    async reclaims(entered) {
      const row = rowOf(entered.link)
      return (await row.reclaims?.(entered, await row.requireAccount(entered.link))) ?? false
    },

    waits: async ({ userId = '' }) => (await findUserById(db, userId))?.disabled === true,

    async check(entry) {
      const { link, chosen, factor } = entry
      const row = rowOf(link)
      const user = await row.requireAccount(link)
      const checked = await checkChosen(entry, user)
      const instead = 'password' in chosen ? undefined : chosen
      const first = { amr: amrOf(instead?.proof ?? 'password'), authenticatedAtMs: clock.now() }
      return {
        grant: {
          userId: user.id,
          ...authenticatedBy(first, factor, 'enter'),
          provider: instead?.provider,
          isStillValid: (queries) => row.isStillValid(link, queries),
        },
        async apply(transaction) {
          await row.change(transaction, { browser: NO_BROWSER, ...entry, ...checked, user })
          await instead?.connect(transaction, user.id)
        },
      }
    },
  }
}

const NO_BROWSER = { device: undefined, link: undefined }
