import type { Configuration } from 'openid-client'
import type { MonotonicClock } from '../../lib/time.ts'

const LIFETIME_MS = 3_600_000
/** A provider that did not answer is asked again after this long, while an older document can be used. */
const RETRY_MS = 60_000

interface DiscoveryDeps {
  clock: MonotonicClock
  discover: () => Promise<Configuration>
}

/**
 * Keeps a provider's discovery document: it is fetched when it is first needed and again after an hour. A failure is
 * not kept, so the next sign-in tries again; while the provider does not answer, the document that came before still
 * counts.
 */
export const createDiscovery = ({ clock, discover }: DiscoveryDeps) => {
  let known: { configuration: Configuration; atMs: number } | undefined
  let pendingFetch: Promise<Configuration> | undefined

  const refresh = async (): Promise<Configuration> => {
    try {
      const configuration = await discover()
      known = { configuration, atMs: clock.elapsedMs() }
      return configuration
    } catch (error) {
      if (!known) throw error
      known.atMs = clock.elapsedMs() - LIFETIME_MS + RETRY_MS
      return known.configuration
    } finally {
      pendingFetch = undefined
    }
  }

  return {
    configuration(): Promise<Configuration> {
      if (known && clock.elapsedMs() - known.atMs < LIFETIME_MS) return Promise.resolve(known.configuration)
      pendingFetch ??= refresh()
      return pendingFetch
    },

    /** It must be called when the document, or the keys that came with it, turn out to be outdated. */
    forget(): void {
      if (known) known.atMs = clock.elapsedMs() - LIFETIME_MS
    },
  }
}
