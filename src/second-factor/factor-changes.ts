import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'
import { updateUpdatedAt } from '../accounts/user-store.ts'
import type { FactorDeps } from './factor-deps.ts'
import { createCodeCheck } from './code-check.ts'
import { type CodeOutcome, countingCodes } from './code-outcome.ts'
import { factorChanged, createRecoveryCodeSets, createShownCodes } from './recovery-code-sets.ts'
import { deleteUselessRecoveryCodes } from './second-factor-store.ts'
import { deleteSetUp } from './one-time-code-store.ts'
import { createSecretSealing } from './secret-sealing.ts'
import { type CheckedSetUp, createSetUp } from './set-up.ts'

/** The session of the request permits a change of its user. */
export interface ChangingSession {
  userId: string
  sessionId: string
}

/** A user has entered a right first code in a session. */
export interface OwnSetUp extends Pick<CheckedSetUp, 'recoveryCodes'> {
  /** Does the same as in `CheckedSetUp`. It also throws `forbidden` unless the user has authenticated recently. */
  apply(transaction: Transaction): Promise<void>
}

export interface FactorChangesDeps extends FactorDeps {
  /** It is called with the outcome of each check of a code. */
  onCode?: ((outcome: CodeOutcome) => void) | undefined
}

/** Users change and use their second factors by these functions, which are loaded with the first call. */
export const createFactorChanges = (deps: FactorChangesDeps) => {
  const { db, clock, rootSecret, applySecurityEvent, notify, recordEvent, factors, requireRecentAuthentication } = deps
  const sealing = createSecretSealing(rootSecret)
  const { prepare, prepareFirst } = createRecoveryCodeSets(deps)
  const setUp = createSetUp({ ...deps, sealing, prepareFirst })

  return {
    ...setUp,
    ...createShownCodes({ rootSecret, clock }),
    checkCode: countingCodes(createCodeCheck({ ...deps, sealing }), deps.onCode),
    prepareRecoveryCodes: prepareFirst,

    async checkOwnSetUp(
      { userId, sessionId }: ChangingSession,
      first: { sealed: string | undefined; code: string },
      caller?: Caller,
    ): Promise<OwnSetUp> {
      const { recoveryCodes, apply } = await setUp.checkSetUp({ userId, boundTo: sessionId }, first, caller)
      return {
        recoveryCodes,
        async apply(transaction) {
          await requireRecentAuthentication(transaction, sessionId, userId)
          await apply(transaction, { sessionId })
        },
      }
    },

    remove: ({ userId, sessionId }: ChangingSession, caller: Caller): Promise<void> =>
      db.inTransaction(async (transaction) => {
        await requireRecentAuthentication(transaction, sessionId, userId)
        if ((await deleteSetUp(transaction, userId, 0)) === 0) throw notSetUp()
        await deleteUselessRecoveryCodes(transaction, userId)
        await updateUpdatedAt(transaction, userId, clock.now())
        await recordEvent(transaction, { type: 'second_factor.removed', userId, sessionId }, caller)
        await applySecurityEvent(transaction, 'sign_in_method_changed', { userId, sessionId, caller })
        await notify(transaction, userId, { kind: 'second_factor_removed' }, caller)
      }),

    async renewRecoveryCodes({ userId, sessionId }: ChangingSession, caller: Caller): Promise<string[]> {
      if (!(await factors.has(db, userId))) throw factorChanged()
      const { codes, insert } = await prepare(userId, caller)
      await db.inTransaction(async (transaction) => {
        await requireRecentAuthentication(transaction, sessionId, userId)
        if (!(await insert(transaction))) throw factorChanged()
        // The last factor may have gone while the codes were hashed.
        if ((await deleteUselessRecoveryCodes(transaction, userId)) > 0) throw factorChanged()
        await notify(transaction, userId, { kind: 'recovery_codes_renewed' }, caller)
        await recordEvent(transaction, { type: 'second_factor.recovery_codes_renewed', userId, sessionId }, caller)
      })
      return codes
    },
  }
}

const notSetUp = (): AppError =>
  new AppError('not_found', 'There is no authenticator app on this account any longer.', { reason: 'not_set_up' })
