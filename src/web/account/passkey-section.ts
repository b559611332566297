import type { PasskeysView } from '../../pages/account/account-view.ts'
import type { AuthenticatedSession } from '../../sessions/session.ts'
import type { PageDeps } from '../../http/deps.ts'

/** What the account page shows of passkeys. Undefined where there are none. */
export const findPasskeySection = async (
  { passkeys, sessions }: Pick<PageDeps, 'passkeys' | 'sessions'>,
  session: AuthenticatedSession,
): Promise<PasskeysView | undefined> => {
  if (!passkeys.isOn) return undefined
  const list = await passkeys.list(session.userId)
  const isRecentlyAuthenticated = await sessions.isRecentlyAuthenticated(session)
  return {
    list: list.map(({ createdAtMs: addedAtMs, isBackupEligible: isSynced, ...passkey }) => ({
      ...passkey,
      addedAtMs,
      isSynced,
    })),
    isRecentlyAuthenticated,
    isOffered: list.length === 0 && isRecentlyAuthenticated && session.amr.includes('pwd'),
    accepted: await passkeys.accepted(session.userId),
  }
}
