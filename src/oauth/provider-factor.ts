import type { Clock } from '../lib/time.ts'
import type { Proof } from '../sign-in/amr.ts'
import type { ProviderProfile } from './providers/profile.ts'
import type { ProviderSettings } from './providers/presets.ts'

/**
 * A sign-in with a provider says this about a second factor. `asked`: it says nothing, and ours is asked for. `spared`:
 * the operator trusts the provider with it. `proved`: the ID token says that the provider has asked for one just now.
 */
export type ProviderFactor = 'asked' | 'spared' | 'proved'

/** A sign-in counts as recent for this long. */
const FRESH_MS = 600_000

interface ProviderFactorDeps {
  clock: Clock
  providers: readonly Pick<ProviderSettings, 'name' | 'secondFactor'>[]
}

/** Says whether the operator trusts a provider with the second factor. */
export const trustsFactor =
  (providers: ProviderFactorDeps['providers']) =>
  (name: string): boolean =>
    providers.some((provider) => provider.name === name && provider.secondFactor === 'trusted')

export const createProviderFactor =
  ({ clock, providers }: ProviderFactorDeps) =>
  ({ provider, secondFactorAtMs }: Pick<ProviderProfile, 'provider' | 'secondFactorAtMs'>): ProviderFactor => {
    const setting = providers.find(({ name }) => name === provider)?.secondFactor
    if (setting === 'trusted') return 'spared'
    const isFresh = secondFactorAtMs !== undefined && clock.now() - secondFactorAtMs < FRESH_MS
    return setting === 'claims' && isFresh ? 'proved' : 'asked'
  }

export type ProviderProof = Extract<Proof, 'provider' | 'provider_with_factor'>

export const proofOfProvider = (factor: ProviderFactor): ProviderProof =>
  factor === 'proved' ? 'provider_with_factor' : 'provider'
