import type { Clock } from '../lib/time.ts'
import { createDisconnection } from './disconnection.ts'
import { signInProblem } from './errors.ts'
import { createLinking } from './linking.ts'
import { createPendingLinks } from './pending-link.ts'
import { type ProviderProfile, requireAllowedDomain } from './profile.ts'
import { describeDiscord } from './providers/discord.ts'
import { describeGithub } from './providers/github.ts'
import { createOAuth2Provider } from './providers/oauth2.ts'
import { createOpenidProvider } from './providers/openid.ts'
import type { ProviderSettings } from './providers/presets.ts'
import type { AuthorizationRequest, Provider } from './providers/provider.ts'
import { createSignIn } from './sign-in.ts'
import {
  type AuthorizationFlow,
  createAuthorizationFlows,
  FLOW_LIFETIME_MS,
  type NewAuthorizationFlow,
} from './state.ts'

export type { ProviderProfile } from './profile.ts'
export type { TakenEmail } from './sign-in.ts'
export type { AuthorizationFlow, NewAuthorizationFlow, PendingLink } from './state.ts'
export { FLOW_LIFETIME_MS } from './state.ts'

type OAuthDeps = Omit<Parameters<typeof createSignIn>[0], 'providerNames'> &
  Omit<Parameters<typeof createLinking>[0], 'providerNames' | 'admission' | 'pendingLinks'> &
  Omit<Parameters<typeof createDisconnection>[0], 'providerNames'> &
  Parameters<typeof createAuthorizationFlows>[0] & {
    baseUrl: string
    /** In the order of their buttons. */
    providers: ProviderSettings[]
    /** Bounds each exchange with a provider. */
    timeoutMs: number
  }

/** Signing in by somebody else, who vouches for people (specification section 4.2 rule 5). */
export const createOAuth = (deps: OAuthDeps) => {
  const { baseUrl, clock, providers, timeoutMs } = deps
  const flows = createAuthorizationFlows(deps)
  const providerNames = providers.map(({ name }) => name)
  const admission = createSignIn({ ...deps, providerNames })
  const pendingLinks = createPendingLinks({ ...deps, lifetimeMs: FLOW_LIFETIME_MS })
  const linking = createLinking({ ...deps, providerNames, admission, pendingLinks })
  const disconnection = createDisconnection({ ...deps, providerNames })
  const known = new Map(
    providers.map((settings) => [settings.name, { settings, speaker: createProvider(settings, timeoutMs, clock) }]),
  )

  const requireProvider = (name: string) => {
    const provider = known.get(name)
    if (!provider) throw signInProblem('unreadable')
    return provider
  }

  const attemptOf = (flow: AuthorizationFlow, state: string, binding: string): AuthorizationRequest => ({
    redirectUri: `${baseUrl}/auth/oauth/${flow.provider}/callback`,
    state,
    ...flows.secretsOf(flow, state, binding),
    // A proof is worth something when it is given now, by who sits there.
    freshSinceMs: flow.intent === 'confirm' || flow.pending ? flow.startedAtMs : undefined,
  })

  return {
    /** What can be offered, in the order of the settings. */
    providers: providers.map(({ name, label, iconUrl }) => ({ name, label, iconUrl })),

    /** Where to send the browser whose secret is `binding`; `unavailable` when the provider does not answer. */
    async begin(errand: NewAuthorizationFlow, binding: string): Promise<URL> {
      const { speaker } = requireProvider(errand.provider)
      const { flow, state } = flows.begin(errand, binding)
      return speaker.authorizationUrl(attemptOf(flow, state, binding))
    },

    recall: flows.recall,

    /** Whom the provider vouches for, by what it sent back. A flow comes to its end once, well or not. */
    async finish(flow: AuthorizationFlow, answer: URLSearchParams, binding: string): Promise<ProviderProfile> {
      const { speaker, settings } = requireProvider(flow.provider)
      await flows.use(flow)
      const vouched = await speaker.fetchProfile(answer, attemptOf(flow, answer.get('state') ?? '', binding))
      requireAllowedDomain(vouched, settings)
      return vouched
    },

    rememberPending: pendingLinks.remember,
    closePending: flows.closePending,
    openPending: flows.openPending,
    isPending: flows.isPending,
    requireCurrent: flows.requireCurrent,
    deleteOldStates: flows.deleteOld,
    ...admission,
    ...linking,
    ...disconnection,
  }
}

export type OAuth = ReturnType<typeof createOAuth>

const createProvider = (settings: ProviderSettings, timeoutMs: number, clock: Clock): Provider => {
  if (settings.kind === 'github') return createOAuth2Provider({ settings, timeoutMs, clock, describe: describeGithub })
  if (settings.kind === 'discord')
    return createOAuth2Provider({ settings, timeoutMs, clock, describe: describeDiscord })
  return createOpenidProvider({ settings, timeoutMs, clock })
}
