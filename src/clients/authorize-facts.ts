import type { Clock } from '../lib/time.ts'
import { type AuthenticatedSession, currentTimeMs } from '../sessions/sessions.ts'
import type { Database } from '../storage/database.ts'
import { type AuthorizeFacts, type ConsentFacts, type ConsentOutcome, decideConsent } from './authorize-policy.ts'
import type { GoodRequest, Recipient } from './authorize-request.ts'
import type { Client } from './client.ts'
import { isRemembered } from './consent-store.ts'
import { kindOfRedirect } from './redirect-uri.ts'

interface FactsDeps {
  db: Database
  clock: Clock
}

/** A good request is decided by these. */
export interface DecidedBy {
  session: AuthenticatedSession | undefined
  /** A proof is for the request if it is not older. */
  beganAtMs: number
  /** This tells whether any user can prove more than one factor. */
  canStepUp: boolean
}

const kindOf = ({ kind, firstParty }: Client): ConsentFacts['client'] => {
  if (kind !== 'operator') return 'stranger'
  return firstParty ? 'first_party' : 'operator'
}

const redirectOf = ({ redirectUri }: Recipient): ConsentFacts['redirect'] =>
  kindOfRedirect(redirectUri) === 'https' ? 'https' : 'program'

/** All others are asked every time. */
export const isMemorable = (good: GoodRequest): boolean =>
  kindOf(good.client) === 'operator' && redirectOf(good) === 'https'

/** Finds the facts by which the table decides. */
export const createFacts = ({ db, clock }: FactsDeps) => {
  const findConsent = async (
    good: GoodRequest,
    { userId }: AuthenticatedSession,
    isProvedSince: boolean,
  ): Promise<ConsentOutcome> => {
    const { client, request } = good
    const { prompt, scopes, resource } = request
    const asksForAccount = prompt.has('select_account') && !isProvedSince
    return decideConsent({
      client: kindOf(client),
      redirect: redirectOf(good),
      remembered: isMemorable(good) && (await isRemembered(db, { userId, clientId: client.id, resource, scopes })),
      asksFor: prompt.has('consent') ? 'consent' : asksForAccount ? 'account' : 'nothing',
    })
  }

  return async (good: GoodRequest, { session, beganAtMs, canStepUp }: DecidedBy): Promise<AuthorizeFacts> => {
    const { prompt, maxAgeMs, wantsMfa } = good.request
    const silent = prompt.has('none')
    if (!session) return { user: 'none', silent, mfa: 'enough', proof: 'enough', consent: 'none' }
    // A provider that does not say when its user has logged in there may have asked for nothing: a script of the
    // application could have pressed its button. That proves nothing until the user confirms it.
    const provedAtMs = session.authenticatedAtMs ?? 0
    const isProvedSince = provedAtMs >= beganAtMs
    const isOld = maxAgeMs !== undefined && currentTimeMs(session, clock) - provedAtMs > maxAgeMs
    const needsProof = (prompt.has('login') || isOld) && !isProvedSince
    const isOfStranger = kindOf(good.client) === 'stranger' && !isProvedSince
    return {
      user: good.hintedUserId === undefined || good.hintedUserId === session.userId ? 'right' : 'other',
      silent,
      mfa: !wantsMfa || session.amr.includes('mfa') ? 'enough' : canStepUp ? 'missing' : 'impossible',
      proof: needsProof ? 'missing' : isOfStranger ? 'missing_for_stranger' : 'enough',
      consent: await findConsent(good, session, isProvedSince),
    }
  }
}
