import type { DerivedKeys, RootSecret } from './derived-keys.ts'
import { equalInConstantTime, hmac, open, seal } from './secrets.ts'
import type { Clock } from './time.ts'

/** A sealed token contains this. */
export interface OpenedToken<Content> {
  content: Content
  /** This says why the content must not be used; it is undefined when it may be. */
  problem: 'expired' | 'other_browser' | undefined
}

interface SealedTokensDeps {
  rootSecret: RootSecret
  clock: Clock
  /** Each purpose has a key of its own: a token for one purpose cannot be opened for another. */
  purpose: string
  lifetimeMs: number
}

/**
 * All tokens contain content of this version. A change that code before it could not read raises it: a token of another
 * version is not opened, and its user begins again (docs/decisions/064-sealed-content-has-a-version.md).
 */
const VERSION = 1

/** This is the JSON inside a token. */
interface Envelope<Content> {
  content: Content
  /** This is a keyed hash of the browser's secret. */
  browser: string
  expiresAtMs: number
}

interface Unsealed<Content> {
  envelope: Envelope<Content>
  keys: DerivedKeys
}

/** The first token loads it, since a start does not need it. */
const loadZlib = () => process.getBuiltinModule('node:zlib')

/**
 * Sealed tokens carry state through a browser and back. Nobody can read or change them, they expire, and they are good
 * in one browser alone: the one whose cookie holds `browserSecret`. Therefore nothing is stored for users who never
 * return, and any process can open what another has sealed.
 */
export const createSealedTokens = <Content>({ rootSecret, clock, purpose, lifetimeMs }: SealedTokensDeps) => {
  const browserHash = (keys: DerivedKeys, browserSecret: string): string =>
    hmac(keys.for(`${purpose}: browser`), browserSecret, 'base64url')

  const find = (token: string | undefined): Unsealed<Content> | undefined =>
    token ? rootSecret.find((keys) => unsealWith<Content>(keys, token, purpose)) : undefined

  const problemOf = (
    { envelope, keys }: Unsealed<Content>,
    browserSecret: string | undefined,
  ): OpenedToken<Content>['problem'] => {
    // The order matters: the cookie expires with the token, and then "expired" is the true reason.
    if (envelope.expiresAtMs <= clock.now()) return 'expired'
    const isSame =
      browserSecret !== undefined && equalInConstantTime(envelope.browser, browserHash(keys, browserSecret))
    return isSame ? undefined : 'other_browser'
  }

  return {
    seal(content: Content, browserSecret: string): string {
      const { keys } = rootSecret
      const browser = browserHash(keys, browserSecret)
      const envelope: Envelope<Content> = { content, browser, expiresAtMs: clock.now() + lifetimeMs }
      // The text is compressed, because a percent-encoded address that is not ASCII is three times as long as its text.
      return seal(keys.for(purpose), loadZlib().deflateRawSync(JSON.stringify(envelope)), contextOf(purpose))
    },

    /**
     * Finds the keys of the root secret that sealed a token; returns undefined when svc did not seal it for this
     * purpose.
     */
    keysOf: (token: string): DerivedKeys | undefined => find(token)?.keys,

    /** Returns undefined for text that svc did not seal for this purpose. */
    open(token: string | undefined, browserSecret: string | undefined): OpenedToken<Content> | undefined {
      const unsealed = find(token)
      return unsealed && { content: unsealed.envelope.content, problem: problemOf(unsealed, browserSecret) }
    },
  }
}

/** The seal covers the version, which is not inside. */
const contextOf = (purpose: string): string => `${purpose} ${VERSION}`

const unsealWith = <Content>(keys: DerivedKeys, token: string, purpose: string): Unsealed<Content> | undefined => {
  const packed = open(keys.for(purpose), token, contextOf(purpose))
  return packed && { envelope: JSON.parse(loadZlib().inflateRawSync(packed).toString()) as Envelope<Content>, keys }
}
