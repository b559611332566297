import type { Clock } from '../lib/time.ts'
import { createDisconnection } from './disconnection.ts'
import { signInProblem } from './errors.ts'
import { createLinking } from './linking.ts'
import { createPendingLinks } from './pending-link.ts'
import { requireAllowedDomain, type Vouched } from './profile.ts'
import { describeDiscord } from './providers/discord.ts'
import { describeGithub } from './providers/github.ts'
import { createPlain } from './providers/oauth2.ts'
import { createOpenid } from './providers/openid.ts'
import type { ProviderSettings } from './providers/presets.ts'
import type { Attempt, Provider } from './providers/provider.ts'
import { createAdmission } from './sign-in.ts'
import { createFlows, type Errand, FLOW_LIFETIME_MS, type Flow } from './state.ts'

export type { Vouched } from './profile.ts'
export type { Entrance, TakenEmail } from './sign-in.ts'
export type { Errand, Flow, Pending } from './state.ts'
export { FLOW_LIFETIME_MS } from './state.ts'

type Parts = Omit<Parameters<typeof createAdmission>[0], 'providerNames'> &
  Omit<Parameters<typeof createLinking>[0], 'providerNames' | 'admission' | 'pendingLinks'> &
  Omit<Parameters<typeof createDisconnection>[0], 'providerNames'> &
  Parameters<typeof createFlows>[0] & {
    baseUrl: string
    /** In the order of their buttons. */
    providers: ProviderSettings[]
    /** Bounds each exchange with a provider. */
    timeoutMs: number
  }

/** Signing in by somebody else, who vouches for people (specification section 4.2 rule 5). */
export const createOAuth = (parts: Parts) => {
  const { baseUrl, clock, providers, timeoutMs } = parts
  const flows = createFlows(parts)
  const providerNames = providers.map(({ name }) => name)
  const admission = createAdmission({ ...parts, providerNames })
  const pendingLinks = createPendingLinks({ ...parts, lifetimeMs: FLOW_LIFETIME_MS })
  const linking = createLinking({ ...parts, providerNames, admission, pendingLinks })
  const disconnection = createDisconnection({ ...parts, providerNames })
  const known = new Map(
    providers.map((settings) => [settings.name, { settings, speaker: createProvider(settings, timeoutMs, clock) }]),
  )

  const requireProvider = (name: string) => {
    const provider = known.get(name)
    if (!provider) throw signInProblem('unreadable')
    return provider
  }

  const attemptOf = (flow: Flow, state: string, binding: string): Attempt => ({
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
    async begin(errand: Errand, binding: string): Promise<URL> {
      const { speaker } = requireProvider(errand.provider)
      const { flow, state } = flows.begin(errand, binding)
      return speaker.authorizationUrl(attemptOf(flow, state, binding))
    },

    recall: flows.recall,

    /** Whom the provider vouches for, by what it sent back. A flow comes to its end once, well or not. */
    async finish(flow: Flow, answer: URLSearchParams, binding: string): Promise<Vouched> {
      const { speaker, settings } = requireProvider(flow.provider)
      await flows.use(flow)
      const vouched = await speaker.vouch(answer, attemptOf(flow, answer.get('state') ?? '', binding))
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
  if (settings.kind === 'github') return createPlain({ settings, timeoutMs, clock, describe: describeGithub })
  if (settings.kind === 'discord') return createPlain({ settings, timeoutMs, clock, describe: describeDiscord })
  return createOpenid({ settings, timeoutMs, clock })
}
