import { createBoundedCache } from '../../lib/bounded-cache.ts'

/** A token whose signature and claims were verified once is remembered like this. */
export interface VerifiedToken {
  sessionId: string
  userId: string
  audience: string
  /** The key that signed it, which may be revoked before the token expires. */
  keyId: string
  expiresAtMs: number
}

/** These take about 16 MB; the cache may hold twice as many. */
const KEPT_TOKENS = 12_000
const SIGNATURE_LENGTH = 86

const signatureOf = (token: string): string => token.slice(-SIGNATURE_LENGTH)

/**
 * Remembers tokens that need no verification: they were verified before, or signed here. The verification of a
 * signature costs more than the rest of a request, and the same token comes with many requests. Tokens are looked up by
 * their signature, a seventh of their length, and then compared as a whole.
 */
export const createVerifiedTokens = <Facts extends Pick<VerifiedToken, 'sessionId'> = VerifiedToken>() => {
  const verified = createBoundedCache<{ token: string; facts: Facts }>(KEPT_TOKENS)
  /** It maps a session to the signature of the token that was issued last. */
  const issued = createBoundedCache<string>(KEPT_TOKENS)

  const remember = (token: string, facts: Facts): void => {
    verified.set(signatureOf(token), { token, facts })
  }

  return {
    find(token: string): Facts | undefined {
      const found = verified.get(signatureOf(token))
      return found?.token === token ? found.facts : undefined
    },

    remember,

    /** Remembers a new token and forgets the one that it replaces, which is verified again if it still comes. */
    replace(token: string, facts: Facts): void {
      const signature = signatureOf(token)
      const replaced = issued.get(facts.sessionId)
      if (replaced !== undefined) verified.delete(replaced)
      issued.set(facts.sessionId, signature)
      remember(token, facts)
    },
  }
}
