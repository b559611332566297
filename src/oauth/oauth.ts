import type { Caller } from '../lib/caller.ts'
import { once, onDemand } from '../lib/on-demand.ts'
import type { OwnSession, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Queries } from '../storage/database.ts'
import {
  type AuthorizationFlow,
  type NewAuthorizationFlow,
  type PendingLink,
  createAuthorizationFlows,
  type ReadState,
} from './authorization-flow.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { createDisconnection, type Disconnection, type LinkedIdentity } from './disconnection.ts'
import { signInProblem } from './errors.ts'
import type { ExistingAccount, SignInResult } from './sign-in.ts'
import type { AccountProof } from './linking.ts'
import { createPendingLinks, type PendingLinks } from './pending-link.ts'
import type { OfferedProvider } from './connect.ts'
import type { ProviderProfile } from './providers/profile.ts'
import type { ProviderDeps } from './providers/create-provider.ts'
import { hasOneIssuer, type ProviderSettings, presetOf } from './providers/presets.ts'
import type { AuthorizationRequest, Provider } from './providers/provider.ts'
import type { FirstSigner } from './first-sign-in.ts'
import { createProviderFactor, type ProviderFactor } from './provider-factor.ts'

export type { AuthorizationFlow, LinkRequest, NewAuthorizationFlow, PendingLink } from './authorization-flow.ts'
export type { Disconnection, LinkedIdentity } from './disconnection.ts'
export type { ExistingAccount } from './sign-in.ts'
export type { ReadLinkRequest } from './pending-link.ts'
export type { ProviderProfile } from './providers/profile.ts'
export { FLOW_LIFETIME_MS, type ReadState } from './authorization-flow.ts'

/**
 * Signs users in with external providers. `browserSecret`, in a cookie, binds states and link requests to one browser.
 */
export interface OAuth
  extends Pick<PendingLinks, 'createPendingLink' | 'isPending' | 'readLinkRequest' | 'sealLinkRequest'> {
  /** The providers are in the order of their buttons. */
  providers: readonly Pick<ProviderSettings, 'name' | 'label' | 'iconUrl'>[]

  /** Gives the issuer of a configured provider; it returns undefined if its users have different ones. */
  issuerOf(provider: string): string | undefined

  // These lead to a provider and back.
  /** It resolves to the address to send the browser to; it throws `unavailable` when the provider does not answer. */
  begin(flow: NewAuthorizationFlow, browserSecret: string): Promise<URL>
  /** Gives the flow of a callback's `state`, and says why it must not be continued. */
  readState(state: string | undefined, provider: string, browserSecret: string | undefined): ReadState
  /** Ends the flow, well or not: exchanges the code of the callback for the user's profile. */
  finish(flow: AuthorizationFlow, callbackParams: URLSearchParams, browserSecret: string): Promise<ProviderProfile>

  // These sign users in.
  /** Decides by the policy in sign-in-policy.ts; it throws a problem. */
  signIn(profile: ProviderProfile, signer: FirstSigner): Promise<SignInResult>
  /** Tells whether a sign-in by this profile spares our second factor. */
  factorOf(profile: ProviderProfile): ProviderFactor
  /** Throws `forbidden` when the profile is not connected to this user. */
  signInAs(profile: ProviderProfile, userId: string): Promise<SignInGrant>

  // These link an account with the same email, as those of `PendingLinks` do, once its owner has proved that it is theirs.
  /** Finds the ways to prove it; it throws `conflict` when the account no longer exists. */
  requireAccount(userId: string): Promise<ExistingAccount>
  /** The grant proves the account. It resolves to undefined when the grant is no longer valid. */
  linkPending(pendingLink: PendingLink, browserSecret: string, proof: AccountProof): Promise<SignInGrant | undefined>
  /** Gives an account to the owner of its email, which nobody has verified before. */
  reclaim(pendingLink: PendingLink, browserSecret: string, caller: Caller): Promise<SignInGrant>

  // These handle the connections of an account.
  /** Serves an account that the user proves in another way: `use` may connect the provider account to it. */
  offer<T>(profile: ProviderProfile, caller: Caller, use: (offered: OfferedProvider) => Promise<T>): Promise<T>
  /** Tells whether the user is connected to a provider that is configured. */
  hasConnection(queries: Queries, userId: string): Promise<boolean>
  link(profile: ProviderProfile, session: OwnSession, caller: Caller): Promise<void>
  /** Throws `conflict` for the last way to sign in. Every other session ends. It resolves to the provider's name. */
  unlink(identityId: string, session: OwnSession, caller: Caller): Promise<string>
  listIdentities(userId: string, hasPassword: boolean): Promise<LinkedIdentity[]>
  /** Disconnects one provider for an operator, or all when none is named. If there was one, every session ends. */
  disconnect(userId: string, provider?: string): Promise<Disconnection>

  /** Deletes expired rows, for cleanup; it resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

export const createOAuth = (deps: OAuthDeps): OAuth => {
  const { baseUrl, clock, timeoutMs, fetchFrom } = deps
  const providerNames = deps.providers.map(({ name }) => name)
  /** A provider may still be connected to an account after it was removed from the settings. */
  const labelOf = (name: string) => deps.providers.find((it) => it.name === name)?.label ?? presetOf(name).label
  const factorOf = createProviderFactor(deps)
  const flows = createAuthorizationFlows(deps)
  const pendingLinks = createPendingLinks(deps)
  const { createPendingLink, sealLinkRequest, isPending, readLinkRequest } = pendingLinks
  const disconnection = createDisconnection({ ...deps, labelOf, providerNames })
  const configured = new Map(
    deps.providers.map((settings) => [
      settings.name,
      { settings, load: once(() => loadProvider({ settings, timeoutMs, clock, fetch: fetchFrom?.(settings.issuer) })) },
    ]),
  )

  /** The code is loaded with the first sign-in. */
  const loadSignIns = once(async () => {
    const { createProviderSignIns } = await import('./sign-in.ts')
    return createProviderSignIns({ ...deps, ...pendingLinks, factorOf, labelOf, providerNames })
  })
  const { requireLinkedProvider, ...signIns } = onDemand(loadSignIns, ...SIGN_INS)

  const requireConfigured = (name: string) => {
    const found = configured.get(name)
    if (!found) throw signInProblem('unreadable')
    return found
  }

  const authorizationRequestOf = (
    flow: AuthorizationFlow,
    state: string,
    browserSecret: string,
  ): AuthorizationRequest => ({
    redirectUri: `${baseUrl}/auth/oauth/${flow.provider}/callback`,
    state,
    ...flows.secretsOf(flow, state, browserSecret),
    // The user must sign in at the provider now to prove an account: a session left open there proves nothing.
    signInNotBeforeMs: flow.intent === 'confirm' || flow.pendingLink ? flow.startedAtMs : undefined,
  })

  return {
    providers: deps.providers.map(({ name, label, iconUrl }) => ({ name, label, iconUrl })),

    issuerOf(provider) {
      const settings = configured.get(provider)?.settings
      return settings && hasOneIssuer(settings) ? settings.issuer : undefined
    },

    async begin(newFlow, browserSecret) {
      // The provider of the flow is not the pending one here: it is one that the account has, which proves the account.
      const { pendingLink } = newFlow
      if (pendingLink) await requireLinkedProvider(newFlow.provider, pendingLink.userId)
      const { load } = requireConfigured(newFlow.provider)
      const { flow, state } = flows.begin(newFlow, browserSecret)
      const provider = await load()
      return provider.authorizationUrl(authorizationRequestOf(flow, state, browserSecret))
    },

    readState: flows.readState,
    factorOf,

    async finish(flow, callbackParams, browserSecret) {
      const { load, settings } = requireConfigured(flow.provider)
      const [provider, { requireAllowedDomain }] = await Promise.all([load(), import('./providers/profile.ts')])
      // The state is consumed before the exchange: of two callbacks at once with the same code, one reaches the
      // provider.
      await flows.consumeState(flow)
      const request = authorizationRequestOf(flow, callbackParams.get('state') ?? '', browserSecret)
      const profile = await provider.fetchProfile(callbackParams, request)
      requireAllowedDomain(profile, settings)
      return profile
    },

    ...signIns,
    offer: async (profile, caller, use) => (await loadSignIns()).offer(profile, caller, use),
    createPendingLink,
    sealLinkRequest,
    isPending,
    readLinkRequest,
    ...disconnection,
    deleteExpired: async (nowMs) => (await flows.deleteExpired(nowMs)) + (await pendingLinks.deleteExpired(nowMs)),
  }
}

const SIGN_INS = [
  'requireAccount',
  'requireLinkedProvider',
  'signIn',
  'signInAs',
  'linkPending',
  'reclaim',
  'link',
] as const

const loadProvider = async (deps: ProviderDeps): Promise<Provider> =>
  (await import('./providers/create-provider.ts')).createProvider(deps)
