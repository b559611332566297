import type { Proof } from '../sign-in/amr.ts'
import type { ProviderProfile } from './providers/profile.ts'
import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { hmac } from '../lib/secrets.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import { isUniqueViolation } from '../storage/database.ts'
import { type SignInProblem, signInProblem } from './errors.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { deleteUsedStatesBefore, insertUsedState } from './identity-store.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'

/** A sign-in at a provider has begun and not ended yet. */
export interface AuthorizationFlow {
  /** It is a UUID of version 7. */
  id: string
  startedAtMs: number
  /** It is the provider's name in the settings. */
  provider: string
  /**
   * `link` connects the provider to the user's account; `confirm` re-authenticates the user; `enter` connects it to the
   * account of a link that the user has followed.
   */
  intent: 'sign_in' | 'link' | 'confirm' | 'enter'
  returnTo: string
  /** The user is signed in, for `link` and `confirm`. */
  userId?: string | undefined
  /** It is `mfa` for a `confirm` for which the provider alone is not enough. */
  acr?: 'mfa' | undefined
  /** It is the link, for `enter`. The user has proved `proved`, the second factor of the account, before. */
  entry?: { purpose: string; token: string; proved?: Proof | undefined } | undefined
  /** It is connected at the end, if the user proves with this provider that an account is theirs. */
  pendingLink?: PendingLink | undefined
}

export type NewAuthorizationFlow = Omit<AuthorizationFlow, 'id' | 'startedAtMs'>

/** A provider account is connected to a user's account as soon as its owner proves that the account is theirs. */
export interface PendingLink {
  /** It is the id of its row in `pending_links`. */
  id: string
  profile: ProviderProfile
  userId: string
  /** The profile counts for ten minutes from then, however often the user tries. */
  profileFetchedAtMs: number
}

/** The forms of the "link account" page bring it back. */
export interface LinkRequest {
  pendingLink: PendingLink
  returnTo: string
}

/** A user may take this long at the provider. */
export const FLOW_LIFETIME_MS = 10 * 60_000

/** The address of the callback, which holds it, must stay below what proxies accept, which is 8 kB. */
const MAX_STATE_LENGTH = 6000

export interface ReadState {
  /** It is undefined when svc did not make this state. */
  flow: AuthorizationFlow | undefined
  /** It says why the flow must not be continued; it is undefined when it may be. */
  problem: SignInProblem | undefined
}

/**
 * Keeps flows between the way to a provider and the callback. All of a flow is sealed in its `state`, which only the
 * browser that began it can bring back, once. Nonce and code verifier are derived from it and the browser's secret, and
 * stored nowhere.
 */
export const createAuthorizationFlows = ({ db, clock, rootSecret }: Pick<OAuthDeps, 'clock' | 'db' | 'rootSecret'>) => {
  const lifetimeMs = FLOW_LIFETIME_MS
  const tokens = createSealedTokens<AuthorizationFlow>({ rootSecret, clock, purpose: 'oauth state', lifetimeMs })

  return {
    /** Makes the `state` of a new flow; it throws `invalid_request` when it gets too long. */
    begin(newFlow: NewAuthorizationFlow, browserSecret: string): { flow: AuthorizationFlow; state: string } {
      const flow = { ...newFlow, id: randomUUIDv7(), startedAtMs: clock.now() }
      const state = tokens.seal(flow, browserSecret)
      if (state.length > MAX_STATE_LENGTH) throw returnToTooLong()
      return { flow, state }
    },

    /**
     * The secrets are always the same for a flow and its browser, even if the root secret was rotated after `state` was
     * sealed.
     */
    secretsOf({ id }: AuthorizationFlow, state: string, browserSecret: string) {
      const keys = tokens.keysOf(state) ?? rootSecret.keys
      return {
        nonce: hmac(keys.for('oauth nonce'), `${id} ${browserSecret}`, 'base64url'),
        codeVerifier: hmac(keys.for('oauth code verifier'), `${id} ${browserSecret}`, 'base64url'),
      }
    },

    /** The flow is there with its problem, so that its `returnTo` is not lost. */
    readState(state: string | undefined, provider: string, browserSecret: string | undefined): ReadState {
      const opened = tokens.open(state, browserSecret)
      // A state for another provider must not be accepted: a mix-up attack (RFC 9700 section 4.4).
      const isOfProvider = opened?.content.provider === provider
      return { flow: opened?.content, problem: isOfProvider ? opened.problem : 'unreadable' }
    },

    /** Throws `invalid_request` when this flow has ended before. */
    async consumeState({ id }: AuthorizationFlow): Promise<void> {
      try {
        await insertUsedState(db, id)
      } catch (error) {
        throw isUniqueViolation(error, 'used_oauth_states.id') ? signInProblem('used', error) : error
      }
    },

    /** Deletes the marks of flows that can no longer come back; resolves to how many. */
    deleteExpired: (nowMs: number): Promise<number> => deleteUsedStatesBefore(db, leastUuidAt(nowMs - 2 * lifetimeMs)),
  }
}

const returnToTooLong = (): AppError =>
  new AppError(
    'invalid_request',
    'The address to return to (return_to) is too long to be taken to a provider and back.',
    { field: 'return_to' },
  )
