import { AppError } from '../../lib/errors.ts'
import { type EntryPurpose, isEntryPurpose, type Link } from '../../links/link.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** A live link that lets its user add a passkey. */
export interface LinkToPasskey {
  purpose: EntryPurpose
  link: Link
  /** The account of the link. */
  userId: string
}

/**
 * The link that a script names by `purpose` and `token`; undefined where it names none. `invalid_request` for one that
 * lets nobody add a passkey, such as that to a new password; a `DeadLinkError` for one that is not good.
 */
export const findLinkToPasskey = async (
  { recovery }: Pick<RouteDeps, 'recovery'>,
  { json: { purpose, token } }: RequestContext,
): Promise<LinkToPasskey | undefined> => {
  if (purpose === undefined && token === undefined) return undefined
  if (typeof token !== 'string') throw new AppError('invalid_request', 'token must be text.', { field: 'token' })
  if (typeof purpose !== 'string' || !isEntryPurpose(purpose) || !recovery.takesConnectable(purpose)) {
    throw new AppError('invalid_request', 'purpose must be that of a link which adds a passkey.', { field: 'purpose' })
  }
  const link = await recovery.links.require([purpose], token)
  return { purpose, link, userId: link.userId ?? '' }
}
