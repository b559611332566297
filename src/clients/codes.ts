import { hash } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { equalInConstantTime, randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs, isUsable } from '../sessions/lifetime.ts'
import { findSession, lockSession } from '../sessions/session-store.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { type AuthorizationCode, CODE_LIFETIME_MS, CODE_PREFIX } from './authorization-code.ts'
import { updateClientUse } from './client-store.ts'
import type { Client } from './client.ts'
import { findCode, insertCode, lockCode, updateUsedCode } from './code-store.ts'
import type { GrantEndings } from './grant-endings.ts'
import type { CachedGrant } from './grant.ts'
import type { Grants } from './grants.ts'
import { oauthError } from './oauth-error.ts'
import { resourcesFor } from './scope.ts'
import { findResource } from '../lib/audience.ts'

export const hashOfCode = (code: string): string => hash('sha256', code, 'base64url')

/** Issues a code in the transaction that has locked the session; `nowMs` is by the clock of the rows. */
export const issueCode = async (
  transaction: Transaction,
  about: Omit<AuthorizationCode, 'expiresAtMs' | 'grantId' | 'usedAtMs'>,
  nowMs: number,
): Promise<string> => {
  const code = CODE_PREFIX + randomToken()
  const row = { ...about, expiresAtMs: nowMs + CODE_LIFETIME_MS, grantId: undefined, usedAtMs: undefined }
  await insertCode(transaction, hashOfCode(code), row)
  await updateClientUse(transaction, about.clientId, nowMs)
  return code
}

interface CodeTradeDeps {
  db: Database
  clock: Clock
  resources: readonly string[]
  grants: Grants
  clientGrants: GrantEndings
  recordEvent: RecordEvent
}

/** A client has sent this with a code. */
export interface SentCode {
  code: string
  verifier: string
  redirectUri: string | undefined
  resource: string | undefined
}

/** A good code has become this grant. */
interface Traded {
  found: CachedGrant
  nonce: string | undefined
}

const CODE = /^svc_ac_[\w-]{43}$/

const NOT_GOOD = 'This code is not good: it is wrong, has expired, or was used before.'

/** Throws `invalid_grant` or `invalid_target`, and then uses nothing up. */
export type TradeCode = (client: Client, sent: SentCode, caller: Caller) => Promise<Traded>

/**
 * Trades codes for grants. Whatever is wrong with a request is found before the code is touched; of right requests, two
 * at once included, one gets the grant, and each further one ends it (RFC 6749 section 4.1.2).
 */
export const createCodeTrade = ({
  db,
  clock,
  resources,
  grants,
  clientGrants,
  recordEvent,
}: CodeTradeDeps): TradeCode => {
  const endReused = async (
    transaction: Transaction,
    { grantId, userId, clientId }: AuthorizationCode,
    caller: Caller,
  ) => {
    const ended = await clientGrants.endGrants(transaction, { id: grantId }, 'code_reused', caller)
    const details = { grantId, clientId }
    if (ended > 0) await recordEvent(transaction, { type: 'code.reused', userId, details }, caller)
  }

  /** It resolves to undefined if the code is good no longer; what a reuse ends stays ended then. */
  const use = async (
    transaction: Transaction,
    id: string,
    client: Client,
    { sessionId = '', userId }: AuthorizationCode,
    caller: Caller,
  ): Promise<Traded | undefined> => {
    // The user is locked first, as everywhere. What ends the session waits for it, and ends the grant too.
    await lockSession(transaction, sessionId, userId)
    const code = await lockCode(transaction, id)
    if (code?.usedAtMs !== undefined) await endReused(transaction, code, caller)
    if (code?.usedAtMs !== undefined || code?.sessionId === undefined) return undefined
    const session = await findSession(transaction, code.sessionId)
    if (!session || !isUsable(session, clock)) return undefined
    const nowMs = currentTimeMs(session, clock)
    if (code.expiresAtMs <= nowMs) return undefined
    const { userAgent, address } = session
    const given = { code, client, nowMs, device: { userAgent, address } }
    const made = await grants.create(transaction, given, caller)
    await updateUsedCode(transaction, id, { usedAtMs: nowMs, grantId: made.grant.id })
    return { found: made, nonce: code.nonce }
  }

  return async (client, sent, caller) => {
    const id = CODE.test(sent.code) ? hashOfCode(sent.code) : undefined
    const found = id === undefined ? undefined : await findCode(db, id)
    if (id === undefined || !found || found.clientId !== client.id) throw oauthError('invalid_grant', NOT_GOOD)
    if (sent.redirectUri !== undefined && sent.redirectUri !== found.redirectUri)
      throw oauthError('invalid_grant', 'redirect_uri is not the one that the code was asked for with.')
    if (!isVerifierOf(found.challenge, sent.verifier))
      throw oauthError('invalid_grant', 'code_verifier does not belong to the code_challenge of this code.')
    requireSameResource(resourcesFor(client, resources), found.resource, sent.resource)
    const traded = await db.inTransaction((transaction) => use(transaction, id, client, found, caller))
    if (!traded) throw oauthError('invalid_grant', NOT_GOOD)
    return traded
  }
}

/** RFC 7636 section 4.1 defines the characters of a verifier, and section 4.6 the comparison. */
const isVerifierOf = (challenge: string, verifier: string): boolean =>
  /^[\w.~-]{43,128}$/.test(verifier) && equalInConstantTime(hash('sha256', verifier, 'base64url'), challenge)

/** At the token endpoint, the resource of the request is sent again or left out (RFC 8707 section 2.2). */
export const requireSameResource = (
  known: readonly string[],
  granted: string | undefined,
  sent: string | undefined,
) => {
  const isOffered = granted === undefined || known.includes(granted)
  if (isOffered && (sent === undefined || (granted !== undefined && findResource(known, sent) === granted))) return
  throw oauthError('invalid_target', 'resource is not the one that the user was asked for.')
}
