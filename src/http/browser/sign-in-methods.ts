import { presetOf } from '../../oauth/providers/presets.ts'
import type { ProviderView, SignInView } from '../../pages/pages.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RouteDeps } from '../deps.ts'

/** By what somebody can sign in to his account. */
export const createWaysToSignIn = ({ users, oauth, sessions, pages, providers }: RouteDeps) => {
  const look = async (userId: string) => {
    const hasPassword = await users.hasPassword(userId)
    return { hasPassword, linked: await oauth.listIdentities(userId, hasPassword) }
  }

  /** Also of a provider that was taken out of the settings. */
  const providerView = (name: string): ProviderView =>
    providers.find((it) => it.name === name) ?? { name, label: presetOf(name).label, iconUrl: pages.iconOf(name) }

  return {
    /** For the account page; undefined where there is nothing but the password to tell of. */
    async view(signedIn: AuthenticatedSession): Promise<SignInView | undefined> {
      const { hasPassword, linked } = await look(signedIn.userId)
      if (providers.length === 0 && linked.length === 0) return undefined
      return {
        hasPassword,
        isFresh: sessions.isRecentlyAuthenticated(signedIn),
        linked: linked.map(({ id, provider, email, createdAtMs, removable }) => {
          const { label, iconUrl } = providerView(provider)
          return { id, label, iconUrl, email, linkedAtMs: createdAtMs, removable }
        }),
        linkable: providers.filter(({ name }) => !linked.some(({ provider }) => provider === name)),
      }
    },

    /** What he can confirm by that it is still he. */
    async proofs({ userId }: AuthenticatedSession): Promise<{ hasPassword: boolean; providers: ProviderView[] }> {
      const { hasPassword, linked } = await look(userId)
      const names = linked.map(({ provider }) => provider)
      return { hasPassword, providers: providers.filter(({ name }) => names.includes(name)) }
    },
  }
}
