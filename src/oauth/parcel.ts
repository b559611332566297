import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { deriveKey, equalInConstantTime, hmac, seal, unseal } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'

/** What came back. */
export interface Opened<Content> {
  content: Content
  /** Why it is of no use any more; undefined when it is. */
  spoiled: 'expired' | 'other_browser' | undefined
}

interface Parts {
  rootSecret: Uint8Array
  clock: Clock
  /** What the parcels are for: those of one purpose are no good for another. */
  purpose: string
  lifetimeMs: number
}

interface Wrapped<Content> {
  content: Content
  /** Stands for the browser that it was given to. */
  browser: string
  expiresAtMs: number
}

/**
 * Parcels travel through somebody's browser and come back: nobody can read or change them, and they are good for so
 * long, and in that browser alone. So nothing has to be kept here for who never comes back, and any process can open
 * what another has closed. `binding` is the secret in the browser's cookie.
 */
export const createParcels = <Content>({ rootSecret, clock, purpose, lifetimeMs }: Parts) => {
  const key = deriveKey(rootSecret, purpose)
  const browserKey = deriveKey(rootSecret, `${purpose}: browser`)
  const browserOf = (binding: string): string => hmac(browserKey, binding, 'base64url')

  const spoiledBy = (parcel: Wrapped<Content>, binding: string | undefined): Opened<Content>['spoiled'] => {
    // In this order: the cookie does not outlive the parcel, and "too late" is the truth then.
    if (parcel.expiresAtMs <= clock.now()) return 'expired'
    const isSame = binding !== undefined && equalInConstantTime(parcel.browser, browserOf(binding))
    return isSame ? undefined : 'other_browser'
  }

  return {
    close(content: Content, binding: string): string {
      const parcel: Wrapped<Content> = {
        content,
        browser: browserOf(binding),
        expiresAtMs: clock.now() + lifetimeMs,
      }
      // Addresses that are not in ASCII are three times as long as they look; they pack well.
      return seal(key, deflateRawSync(JSON.stringify(parcel)), purpose)
    },

    /** Undefined for what was not closed here for this purpose. */
    open(text: string | undefined, binding: string | undefined): Opened<Content> | undefined {
      const packed = text && unseal(key, text, purpose)
      if (!packed) return undefined
      const parcel = JSON.parse(inflateRawSync(packed).toString()) as Wrapped<Content>
      return { content: parcel.content, spoiled: spoiledBy(parcel, binding) }
    },
  }
}
