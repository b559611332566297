import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/** The root secret, and the one before it: what was made with that one is accepted for as long as it is given. */
export interface SecretPair {
  current: Uint8Array
  previous?: Uint8Array | undefined
}

/** The keys that are derived from one root secret. */
export interface DerivedKeys {
  /** A 32-byte key for one purpose (HKDF-SHA256, RFC 5869). */
  for: (purpose: string) => KeyObject
}

/** What everything is derived from that svc seals, signs for itself or makes without storing it. */
export interface RootSecret {
  /** The keys that new tokens are made with. */
  readonly keys: DerivedKeys
  /** Whether there is one before it that is accepted too. */
  readonly hasPrevious: boolean
  /** The first answer that is not undefined, of the current root secret and then of the one before it. */
  find<T>(use: (keys: DerivedKeys) => T | undefined): T | undefined
  /** Takes over a root secret that was rotated meanwhile; whether it was. */
  refresh(): boolean
}

/** Derives every key from the pair; `readAgain` returns the pair as it is now, or undefined where it is the same. */
export const createRootSecret = (pair: SecretPair, readAgain?: () => SecretPair | undefined): RootSecret => {
  let accepted = derive(pair)

  const find = <T>(use: (keys: DerivedKeys) => T | undefined): T | undefined => {
    for (const keys of accepted) {
      const found = use(keys)
      if (found !== undefined) return found
    }
    return undefined
  }

  const refresh = (): boolean => {
    const next = readAgain?.()
    if (next) accepted = derive(next)
    return next !== undefined
  }

  return {
    get keys() {
      return accepted[0]
    },
    get hasPrevious() {
      return accepted.length > 1
    },
    // What no known root secret has made may come from a process that has learnt of the next one before.
    find: (use) => find(use) ?? (refresh() ? find(use) : undefined),
    refresh,
  }
}

const derive = ({ current, previous }: SecretPair): [DerivedKeys, ...DerivedKeys[]] => [
  deriveKeys(current),
  ...(previous ? [deriveKeys(previous)] : []),
]

const deriveKeys = (secret: Uint8Array): DerivedKeys => {
  const keys = new Map<string, KeyObject>()
  return {
    for(purpose) {
      const known = keys.get(purpose)
      if (known) return known
      const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'svc', purpose, 32)))
      keys.set(purpose, key)
      return key
    },
  }
}
