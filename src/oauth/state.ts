import { randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import { hmac } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import { type Database, isUniqueViolation } from '../storage/database.ts'
import { type SignInProblem, signInProblem } from './errors.ts'
import { deleteUsedStatesBefore, insertUsedState } from './identity-store.ts'
import { deletePendingLinksBefore } from './pending-link-store.ts'
import type { ProviderProfile } from './profile.ts'
import { createSealedTokens } from './sealed-token.ts'

/** Somebody known only to a provider who has yet to prove that an account is his. */
export interface PendingLink {
  /** Of the row that it rests on; undefined for what the version before has made. */
  id?: string | undefined
  vouched: ProviderProfile
  userId: string
  target: string
  /** When the provider vouched for him: that holds for so long, however often he tries. */
  vouchedAtMs: number
}

/** What somebody went to a provider for. */
export interface NewAuthorizationFlow {
  /** As it is called in the settings. */
  provider: string
  /** Where to go afterwards. */
  target: string
  /** `link`: to connect it to his account. `confirm`: to show that it is still he. */
  intent: 'sign_in' | 'link' | 'confirm'
  /** Who goes, where it is for his own account. */
  userId?: string
  /** What is linked once he is back: he proves an account by this provider. */
  pending?: Omit<PendingLink, 'target'>
}

/** An errand under way. */
export interface AuthorizationFlow extends NewAuthorizationFlow {
  /** UUID of version 7 */
  id: string
  startedAtMs: number
}

/** How long somebody may take at the provider. */
export const FLOW_LIFETIME_MS = 10 * 60_000

/** With it the address of the callback must stay below what proxies take, which is 8 kB. */
const MAX_STATE_LENGTH = 6000

interface AuthorizationFlowsDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
}

/**
 * Sign-ins between their way out and their way back. All of one is in its `state`, which only this browser can bring
 * back, once; nonce and code verifier follow from it and the browser's secret, and are written down nowhere.
 */
export const createAuthorizationFlows = ({ db, clock, rootSecret }: AuthorizationFlowsDeps) => {
  const lifetimeMs = FLOW_LIFETIME_MS
  const states = createSealedTokens<AuthorizationFlow>({ rootSecret, clock, purpose: 'oauth state', lifetimeMs })
  const proofs = createSealedTokens<PendingLink>({ rootSecret, clock, purpose: 'oauth pending identity', lifetimeMs })

  const isOld = ({ vouchedAtMs }: Pick<PendingLink, 'vouchedAtMs'>): boolean => vouchedAtMs + lifetimeMs <= clock.now()

  /** What is pending, or why it is not: not one of ours, of another provider, too old, or of another browser. */
  const findPending = (
    text: string | undefined,
    binding: string | undefined,
    provider?: string,
  ): PendingLink | SignInProblem => {
    const opened = proofs.open(text, binding)
    if (!opened || (provider !== undefined && opened.content.vouched.provider !== provider)) return 'unreadable'
    return opened.spoiled ?? (isOld(opened.content) ? 'expired' : opened.content)
  }

  return {
    /** `state` for a new flow; `binding` is the secret of the browser. `invalid_request` when it gets too long. */
    begin(errand: NewAuthorizationFlow, binding: string): { flow: AuthorizationFlow; state: string } {
      const flow = { ...errand, id: randomUUIDv7(), startedAtMs: clock.now() }
      const state = states.close(flow, binding)
      if (state.length > MAX_STATE_LENGTH) throw tooLong()
      return { flow, state }
    },

    /** The same each time for a flow and its browser, also when the root secret was rotated since `state` was made. */
    secretsOf({ id }: AuthorizationFlow, state: string, binding: string) {
      const keys = states.keysOf(state) ?? rootSecret.keys
      return {
        nonce: hmac(keys.for('oauth nonce'), `${id} ${binding}`, 'base64url'),
        codeVerifier: hmac(keys.for('oauth code verifier'), `${id} ${binding}`, 'base64url'),
      }
    },

    /** The flow, as far as there is one to be read, and what is wrong with it. */
    recall(state: string | undefined, provider: string, binding: string | undefined) {
      const opened = states.open(state, binding)
      const isOfProvider = opened?.content.provider === provider
      const problem: SignInProblem | undefined = isOfProvider ? opened.spoiled : 'unreadable'
      return { flow: opened?.content, problem }
    },

    /** `invalid_request` when it has come back before. */
    async use({ id }: AuthorizationFlow): Promise<void> {
      try {
        await insertUsedState(db, id)
      } catch (error) {
        throw isUniqueViolation(error, 'used_oauth_states.id') ? signInProblem('used', error) : error
      }
    },

    closePending: (pending: PendingLink, binding: string): string => proofs.close(pending, binding),

    /** `invalid_request` when it is of no use, and for one of another provider than this, where one is named. */
    openPending(text: string | undefined, binding: string | undefined, provider?: string): PendingLink {
      const found = findPending(text, binding, provider)
      if (typeof found === 'string') throw signInProblem(found)
      return found
    },

    isPending: (text: string | undefined, binding: string | undefined): boolean =>
      typeof findPending(text, binding) !== 'string',

    /** `invalid_request` when the provider vouched too long ago. */
    requireCurrent(pending: Pick<PendingLink, 'vouchedAtMs'>): void {
      if (isOld(pending)) throw signInProblem('expired')
    },

    /** Resolves to how many were deleted. Those that could still come back are kept. */
    async deleteOld(): Promise<number> {
      const oldest = leastUuidAt(clock.now() - 2 * lifetimeMs)
      return (await deleteUsedStatesBefore(db, oldest)) + (await deletePendingLinksBefore(db, oldest))
    },
  }
}

const tooLong = (): AppError =>
  new AppError(
    'invalid_request',
    'The address to return to (return_to) is too long to be taken to a provider and back.',
    {
      field: 'return_to',
    },
  )
