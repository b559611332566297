import type { ScreenServices } from '../site/frame.ts'
import { presetOf } from '../../oauth/providers/presets.ts'
import type { LinkedView } from '../site/providers.ts'
import type { ProviderView, Services } from '../../http/services.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { ProviderProfile } from '../../oauth/oauth.ts'
import { hasFactor } from '../../sign-in/asked-factor.ts'
import { withReturnTo } from '../../http/return-to.ts'

export interface SignInView {
  /** It is undefined if the service accepts no passwords. */
  hasPassword: boolean | undefined
  /** This tells whether the session began recently enough for changes that could lock the user out. */
  isRecentlyAuthenticated: boolean
  linked: readonly LinkedView[]
  linkable: readonly ProviderView[]
}

/** Finds the ways in which a user can sign in: with a password, and with connected providers. */
export const createSignInMethods = ({
  users,
  oauth,
  sessions,
  iconOf,
  passwords,
  providers,
}: Pick<ScreenServices, 'oauth' | 'iconOf' | 'passwords' | 'providers' | 'sessions' | 'users'>) => {
  const findMethods = async (userId: string) => {
    const hasPassword = await users.hasPassword(userId)
    return { hasPassword, linked: await oauth.listIdentities(userId, hasPassword) }
  }

  /** A provider may still be connected to an account after it was removed from the settings. */
  const providerView = (name: string): ProviderView =>
    providers.find((it) => it.name === name) ?? { name, label: presetOf(name).label, iconUrl: iconOf(name) }

  return {
    /** The result is undefined if the password is the only way: then the page has no such section. */
    async forAccountPage(session: AuthenticatedSession): Promise<SignInView | undefined> {
      const { hasPassword, linked } = await findMethods(session.userId)
      if (hasPassword && providers.length === 0 && linked.length === 0) return undefined
      return {
        hasPassword: passwords ? hasPassword : undefined,
        isRecentlyAuthenticated: await sessions.isRecentlyAuthenticated(session),
        linked: linked.map(({ id, provider, email, createdAtMs, removable }) => {
          const { label, iconUrl } = providerView(provider)
          return { id, label, iconUrl, email, linkedAtMs: createdAtMs, removable }
        }),
        linkable: providers.filter(({ name }) => !linked.some(({ provider }) => provider === name)),
      }
    },

    async forReauthentication({
      userId,
    }: AuthenticatedSession): Promise<{ hasPassword: boolean; providers: ProviderView[] }> {
      const { hasPassword, linked } = await findMethods(userId)
      const names = linked.map(({ provider }) => provider)
      return { hasPassword, providers: providers.filter(({ name }) => names.includes(name)) }
    },
  }
}

/**
 * Tells whether a user may sign in again by a code in a message: where the account has a password, a passkey or an app,
 * that would not count as recent.
 */
export const canConfirmByMail = async (
  { emailSignIn, secondFactors, users }: Pick<Services, 'emailSignIn' | 'secondFactors' | 'users'>,
  userId: string,
): Promise<boolean> => emailSignIn && !(await users.hasPassword(userId)) && !hasFactor(await secondFactors.find(userId))

/**
 * Names the page for a user who has come back by a link. It is the page of the other ways in, if that has something to
 * show besides the way that the user has just used.
 */
export const beforeWaysIn = async (
  { oauth, passkeys }: Pick<Services, 'oauth' | 'passkeys'>,
  userId: string,
  returnTo: string,
  own?: Pick<ProviderProfile, 'issuer' | 'subject'>,
): Promise<string> => {
  const linked = await oauth.listIdentities(userId, true)
  const others = linked.filter(({ issuer, subject }) => issuer !== own?.issuer || subject !== own.subject)
  const isAlone = others.length === 0 && (!passkeys.isOn || (await passkeys.list(userId)).length === 0)
  return isAlone ? returnTo : withReturnTo('/auth/account/ways-in', returnTo)
}
