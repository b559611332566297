import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs, rotate } from '../sessions/lifetime.ts'
import { createRotation } from '../sessions/rotation.ts'
import { createRefreshTokens, readRefreshToken } from '../sessions/tokens/refresh-token.ts'
import type { Database } from '../storage/database.ts'
import { REFRESH_TOKEN_PREFIX } from './authorization-code.ts'
import type { Client } from './client.ts'
import type { GrantEndings } from './grant-endings.ts'
import { updateGrantUse, updateRotatedGrant, updateUnansweredGrant } from './grant-store.ts'
import type { Grants } from './grants.ts'
import type { CachedGrant, GrantWithUser } from './grant.ts'
import { oauthError } from './oauth-error.ts'

interface GrantRefreshDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  graceMs: number
  grantIdleMs: number
  grants: Grants
  clientGrants: GrantEndings
  recordEvent: RecordEvent
}

interface Identified {
  found: CachedGrant
  generation: number
}

/** Makes what a client is given, for a grant as it is now. */
type Issue<Tokens> = (found: CachedGrant) => Promise<Tokens>

interface Trade<Tokens> {
  client: Client
  /** Throws what is wrong with the request, before anything is used up. */
  check: (grant: GrantWithUser) => void
  issue: Issue<Tokens>
}

const ENDED = 'This refresh token is not good: it is wrong, or the access of the client has ended.'

/** Refresh tokens of clients are traded, or only looked at. */
export interface GrantRefresh {
  /** Finds the grant of a genuine token, good or replaced, unless it has ended. */
  identify(text: string): Promise<Identified | undefined>
  /** Tells whether an identified token would still be traded. */
  isGood(identified: Identified): Promise<boolean>
  /** Gives the refresh token of a grant as it is now. */
  tokenOf(found: CachedGrant): string
  /**
   * Trades a token of a client for what `issue` makes. Throws `invalid_grant` for a token that is not good; one that
   * comes again past its grace ends its grant, and so does the token of another client (RFC 9700 section 4.14.2).
   */
  refresh<Tokens>(text: string, trade: Trade<Tokens>, caller: Caller): Promise<Tokens>
}

/** Trades refresh tokens of clients, by the rules of sessions. */
export const createGrantRefresh = (deps: GrantRefreshDeps): GrantRefresh => {
  const { db, clock, graceMs, grantIdleMs, grants, clientGrants, recordEvent } = deps
  const refreshTokens = createRefreshTokens({ ...deps, purpose: 'refresh tokens of clients' })
  const rotation = createRotation<GrantWithUser, CachedGrant>({
    db,
    clock,
    graceMs,
    cached: grants.rows,
    rowOf: ({ grant }) => grant,
    updateRotated: updateRotatedGrant,
    updateUnanswered: updateUnansweredGrant,
  })

  const identify = async (text: string): Promise<Identified | undefined> => {
    if (!text.startsWith(REFRESH_TOKEN_PREFIX)) return undefined
    const token = readRefreshToken(text.slice(REFRESH_TOKEN_PREFIX.length))
    const found = token && (await grants.find(token.sessionId))
    if (!found || !refreshTokens.isGenuine(found.grant, token, found.refreshToken)) return undefined
    return rotation.ageOf(found.grant, token.generation) === 'unknown'
      ? undefined
      : { found, generation: token.generation }
  }

  const endReused = async ({ id, userId, clientId }: GrantWithUser, reason: string, caller: Caller): Promise<void> => {
    await db.inTransaction(async (transaction) => {
      const ended = await clientGrants.endGrants(transaction, { id }, reason, caller)
      const details = { grantId: id, clientId, reason }
      if (ended > 0) await recordEvent(transaction, { type: 'grant.refresh_reused', userId, details }, caller)
    })
  }

  const replace = <Tokens>(found: CachedGrant, issue: Issue<Tokens>): Promise<Tokens | undefined> => {
    const toNext = (nowMs: number): CachedGrant => {
      const grant = { ...rotate(found.grant, nowMs, { graceMs, idleMs: grantIdleMs }), lastUsedAtMs: nowMs }
      return { grant, refreshToken: refreshTokens.make(grant) }
    }
    return rotation.rotate(found, toNext, issue)
  }

  /**
   * The token of a confidential client stays: a thief needs the secret too. The grant is written all the same,
   * so that one that ends at the same moment gives nothing afterwards.
   */
  const keep = async <Tokens>(found: CachedGrant, issue: Issue<Tokens>): Promise<Tokens | undefined> => {
    const { grant } = found
    const nowMs = currentTimeMs(grant, clock)
    const expiresAtMs = Math.min(nowMs + grantIdleMs, grant.absoluteExpiresAtMs)
    const used = { ...found, grant: { ...grant, lastUsedAtMs: nowMs, expiresAtMs } }
    const committing = db.autocommit((changes) => {
      if (changes === 1 && grants.rows.peek(grant.id) === found) grants.rows.replace(grant.id, used)
      else grants.rows.forget(grant.id)
    })
    const [changes, issued] = await Promise.all([updateGrantUse(committing, used.grant), issue(used)])
    return changes === 1 ? issued : undefined
  }

  return {
    identify,

    isGood: async ({ found: { grant }, generation }: Identified): Promise<boolean> =>
      rotation.ageOf(grant, generation) !== 'old' || (await rotation.settle(grant.id)),

    tokenOf: ({ grant, refreshToken }: CachedGrant): string =>
      REFRESH_TOKEN_PREFIX + (refreshToken ?? refreshTokens.make(grant)).text,

    async refresh<Tokens>(text: string, { client, check, issue }: Trade<Tokens>, caller: Caller): Promise<Tokens> {
      // Another request may rotate the token between the look at it and the write: then it is looked at again.
      for (;;) {
        const identified = await identify(text)
        if (!identified) throw oauthError('invalid_grant', ENDED)
        const { found, generation } = identified
        if (found.grant.clientId !== client.id) {
          await endReused(found.grant, 'other_client', caller)
          throw oauthError('invalid_grant', ENDED)
        }
        check(found.grant)
        const age = rotation.ageOf(found.grant, generation)
        if (age === 'current') {
          const issued = await (client.type === 'web' ? keep(found, issue) : replace(found, issue))
          if (issued) return issued
        } else if (age === 'grace') {
          // The rotation of the other request may not be on disk yet; its token must not get out before it is.
          await db.waitUntilDurable()
          return issue(found)
        } else if (!(await rotation.settle(found.grant.id))) {
          await endReused(found.grant, 'refresh_reused', caller)
          throw oauthError('invalid_grant', ENDED)
        }
      }
    },
  }
}
