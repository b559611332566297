import type { Caller } from '../lib/caller.ts'
import { loadedOnDemand } from '../lib/on-demand.ts'
import type { FactorLookup } from './account-factors.ts'
import type { CheckedCode, EnteredCode } from './code-check.ts'
import type { ChangingSession, FactorChangesDeps, OwnSetUp } from './factor-changes.ts'
import type { PreparedRecoveryCodes } from './recovery-code-sets.ts'
import type { CheckedSetUp, OfferedSetUp, SetUpOwner } from './set-up.ts'

export type { AccountFactors } from '../sign-in/asked-factor.ts'
export type { CheckedCode } from './code-check.ts'
export type { CodePlace } from './code-limits.ts'

/** Handles codes of an authenticator app, and recovery codes. */
export interface SecondFactors extends FactorLookup {
  /** It tells whether codes of an app can be set up and are accepted (`SVC_SECOND_FACTOR`). */
  readonly acceptsCodes: boolean
  /** It tells whether a login with a password alone leads to a set-up. */
  readonly isRequired: boolean
  /** Throws `unauthorized` with reason `code_wrong` on `code`, and `rate_limited` past the limits of wrong codes. */
  checkCode(entered: EnteredCode, caller?: Caller): Promise<CheckedCode>

  /** Makes a new secret for an app, or for one that replaces the existing app. `account` is the email of the user. */
  beginSetUp(owner: SetUpOwner, account: string): Promise<OfferedSetUp>
  /**
   * Offers the same secret again, after a wrong code. It resolves to undefined when its time is over or another owner
   * has it.
   */
  continueSetUp(owner: SetUpOwner, account: string, sealed: string | undefined): Promise<OfferedSetUp | undefined>
  /** Throws `unauthorized` on `code` for a wrong code, and `gone` on `code` when a new secret is needed. */
  checkSetUp(
    owner: SetUpOwner,
    first: { sealed: string | undefined; code: string },
    caller?: Caller,
  ): Promise<CheckedSetUp>
  /** Does the same for the user of a session, who must have authenticated recently. */
  checkOwnSetUp(
    own: ChangingSession,
    first: { sealed: string | undefined; code: string },
    caller?: Caller,
  ): Promise<OwnSetUp>
  /** Removes the app, and the recovery codes too if no passkey is left. It throws `not_found` when there is no app. */
  remove(own: ChangingSession, caller: Caller): Promise<void>

  /** Makes ten new codes in place of all others. It throws `conflict` if there is nothing that they could stand for. */
  renewRecoveryCodes(own: ChangingSession, caller: Caller): Promise<string[]>
  /**
   * Hashes codes for the first passkey, to be inserted in its transaction. It resolves to undefined if the account has
   * some.
   */
  prepareRecoveryCodes(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes | undefined>
  /** Seals recovery codes for the cookie that takes them to the page which shows them once. */
  sealCodes(userId: string, codes: string[]): Promise<string>
  /** It resolves to undefined for the codes of another user, and after ten minutes. */
  openCodes(userId: string, sealed: string | undefined): Promise<string[] | undefined>
}

interface SecondFactorsDeps extends FactorChangesDeps {
  isRequired: boolean
}

export const createSecondFactors = ({ isRequired, ...deps }: SecondFactorsDeps): SecondFactors =>
  loadedOnDemand(async () => (await import('./factor-changes.ts')).createFactorChanges(deps), {
    ...deps.factors,
    acceptsCodes: deps.acceptsCodes,
    isRequired,
  })
