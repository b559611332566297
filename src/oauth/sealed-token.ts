import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { DerivedKeys, RootSecret } from '../lib/derived-keys.ts'
import { equalInConstantTime, hmac, seal, unseal } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'

/** What came back. */
export interface Opened<Content> {
  content: Content
  /** Why it is of no use any more; undefined when it is. */
  spoiled: 'expired' | 'other_browser' | undefined
}

/** A parcel, and the keys of the root secret that it was closed with. */
interface Unsealed<Content> {
  parcel: Wrapped<Content>
  keys: DerivedKeys
}

interface SealedTokensDeps {
  rootSecret: RootSecret
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
export const createSealedTokens = <Content>({ rootSecret, clock, purpose, lifetimeMs }: SealedTokensDeps) => {
  const browserOf = (keys: DerivedKeys, binding: string): string =>
    hmac(keys.for(`${purpose}: browser`), binding, 'base64url')

  const find = (text: string | undefined): Unsealed<Content> | undefined =>
    text ? rootSecret.find((keys) => unwrap<Content>(keys, text, purpose)) : undefined

  const spoiledBy = ({ parcel, keys }: Unsealed<Content>, binding: string | undefined): Opened<Content>['spoiled'] => {
    // In this order: the cookie does not outlive the parcel, and "too late" is the truth then.
    if (parcel.expiresAtMs <= clock.now()) return 'expired'
    const isSame = binding !== undefined && equalInConstantTime(parcel.browser, browserOf(keys, binding))
    return isSame ? undefined : 'other_browser'
  }

  return {
    close(content: Content, binding: string): string {
      const { keys } = rootSecret
      const parcel: Wrapped<Content> = {
        content,
        browser: browserOf(keys, binding),
        expiresAtMs: clock.now() + lifetimeMs,
      }
      // Addresses that are not in ASCII are three times as long as they look; they pack well.
      return seal(keys.for(purpose), deflateRawSync(JSON.stringify(parcel)), purpose)
    },

    /** The keys of the root secret that a parcel was closed with; undefined for what was not closed here. */
    keysOf: (text: string): DerivedKeys | undefined => find(text)?.keys,

    /** Undefined for what was not closed here for this purpose. */
    open(text: string | undefined, binding: string | undefined): Opened<Content> | undefined {
      const unsealed = find(text)
      return unsealed && { content: unsealed.parcel.content, spoiled: spoiledBy(unsealed, binding) }
    },
  }
}

const unwrap = <Content>(keys: DerivedKeys, text: string, purpose: string): Unsealed<Content> | undefined => {
  const packed = unseal(keys.for(purpose), text, purpose)
  return packed && { parcel: JSON.parse(inflateRawSync(packed).toString()) as Wrapped<Content>, keys }
}
