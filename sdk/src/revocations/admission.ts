import { AccessTokenError } from '../auth/signed-token.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { Feed } from './feed.ts'
import type { Subject } from './memory.ts'
import type { StaleMode } from './settings.ts'

/** What an admission looks at. */
interface Token extends Subject {
  jti: string
  exp: number
}

interface AdmissionDeps<Claims extends Token> {
  /** Throws a `TypeError` where a setting is missing. */
  requireFeed(): Feed
  stale: StaleMode
  /** Asks svc: resolves to the claims that are true now, or to null for a token that is worth nothing. */
  ask(token: string, claims: Claims): Promise<Partial<Claims> | null>
}

/** How long a token waits for the first answer of the feed. */
const FIRST_TRY_MS = 5000

const waitFor = async (tried: Promise<void>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<void>((resolve) => {
    // It keeps the process alive while a token waits, which the reader itself does not.
    timer = setTimeout(resolve, FIRST_TRY_MS)
  })
  await Promise.race([tried, tooLong])
  clearTimeout(timer)
}

const refuse = (): never => {
  throw new AccessTokenError('The session of the access token has ended.')
}

/**
 * Refuses a verified token whose session has ended, and completes its claims where they may be old. Throws
 * `AccessTokenError`, or `SvcUnavailableError` where svc has to be asked and cannot be.
 */
export const createAdmission = <Claims extends Token>({
  requireFeed,
  stale,
  ask,
}: AdmissionDeps<Claims>): ((token: string, claims: Claims) => Promise<Claims>) => {
  /** Each token is asked about once after each entry that casts doubt on it. */
  const askOnce = (feed: Feed, token: string, claims: Claims, doubt: number): Promise<object | null> => {
    const { answers, memory } = feed
    const known = answers.get(claims.jti)
    if (known && known.number >= doubt) return known.claims
    const answer = { claims: ask(token, claims), number: memory.count(), expiresAtS: claims.exp }
    answers.set(claims.jti, answer)
    answer.claims.catch(() => {
      if (answers.get(claims.jti) === answer) answers.delete(claims.jti)
    })
    return answer.claims
  }

  /** The claims that are not as the token has them. */
  const findChanges = async (feed: Feed, token: string, claims: Claims): Promise<object | null | undefined> => {
    if (!feed.isFresh()) {
      if (stale === 'ask') return ask(token, claims)
      if (stale === 'refuse')
        throw new SvcUnavailableError('it is not known which sessions have ended', { cause: feed.problem() })
    }
    const doubt = feed.memory.doubtAbout(claims)
    return doubt === undefined ? undefined : askOnce(feed, token, claims, doubt)
  }

  return async (token, claims) => {
    const feed = requireFeed()
    const tried = feed.firstTry()
    if (tried) await waitFor(tried)
    if (feed.memory.hasEnded(claims.sid)) refuse()
    const changes = await findChanges(feed, token, claims)
    // It may have ended while svc was asked.
    if (changes === null || feed.memory.hasEnded(claims.sid)) refuse()
    return changes ? { ...claims, ...changes } : claims
  }
}
