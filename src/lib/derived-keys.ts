import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/**
 * The pair is the root secret and the previous one. Tokens of the previous secret are accepted for as long as it is
 * configured.
 */
export interface SecretPair {
  current: Uint8Array
  previous?: Uint8Array | undefined
}

/** These keys are derived from one root secret. */
export interface DerivedKeys {
  /** Derives a 32-byte key for one purpose (HKDF-SHA256, RFC 5869). */
  for: (purpose: string) => KeyObject
}

/** svc derives all keys for sealing, HMACs and tokens that it does not store from the root secret. */
export interface RootSecret {
  /** New tokens use these keys. */
  readonly keys: DerivedKeys
  /** This tells whether a previous secret is accepted too. */
  readonly hasPrevious: boolean
  /** Finds the first result that is not undefined, with the keys of the current secret and then of the previous one. */
  find<T>(use: (keys: DerivedKeys) => T | undefined): T | undefined
  /** Loads a root secret that was rotated in the meantime; returns whether it was. */
  refresh(): boolean
}

/** Derives every key from the pair. `readAgain` returns the current pair, or undefined if it has not changed. */
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
    // A token that no known secret has made may come from a process that has loaded the next secret earlier.
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
      const existing = keys.get(purpose)
      if (existing) return existing
      const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'svc', purpose, 32)))
      keys.set(purpose, key)
      return key
    },
  }
}
