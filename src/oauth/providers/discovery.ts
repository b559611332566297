import type { Configuration } from 'openid-client'
import type { MonotonicClock } from '../../lib/time.ts'

const LIFETIME_MS = 3_600_000
/** How long a provider that does not answer is left alone, where there is something to go on with. */
const RETRY_MS = 60_000

interface DiscoveryDeps {
  clock: MonotonicClock
  discover: () => Promise<Configuration>
}

/**
 * What a provider says of itself, asked for when it is first needed and again every hour. A provider that is away keeps
 * nobody from trying again, and does not unsay what it said before.
 */
export const createDiscovery = ({ clock, discover }: DiscoveryDeps) => {
  let known: { configuration: Configuration; atMs: number } | undefined
  let underWay: Promise<Configuration> | undefined

  const ask = async (): Promise<Configuration> => {
    try {
      const configuration = await discover()
      known = { configuration, atMs: clock.elapsedMs() }
      return configuration
    } catch (error) {
      if (!known) throw error
      known.atMs = clock.elapsedMs() - LIFETIME_MS + RETRY_MS
      return known.configuration
    } finally {
      underWay = undefined
    }
  }

  return {
    configuration(): Promise<Configuration> {
      if (known && clock.elapsedMs() - known.atMs < LIFETIME_MS) return Promise.resolve(known.configuration)
      underWay ??= ask()
      return underWay
    },

    /** To be called when what it said, or the keys that came with it, turn out to be old. */
    forget(): void {
      if (known) known.atMs = clock.elapsedMs() - LIFETIME_MS
    },
  }
}
