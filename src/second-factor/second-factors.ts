import type { Caller } from '../lib/caller.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { FactorLookup } from './account-factors.ts'
import type { CheckedCode, EnteredCode } from './code-check.ts'
import type { ChangingSession, FactorChangesDeps, OwnSetUp } from './factor-changes.ts'
import type { PreparedRecoveryCodes } from './recovery-code-sets.ts'
import type { CheckedSetUp, OfferedSetUp, SetUpOwner } from './set-up.ts'

export type { AccountFactors } from '../sign-in/asked-factor.ts'
export type { CheckedCode } from './code-check.ts'
export type { CodePlace } from './code-limits.ts'

/** Codes of an authenticator app, and recovery codes. */
export interface SecondFactors extends FactorLookup {
  /** Whether codes of an app can be set up and are accepted (`SVC_SECOND_FACTOR`). */
  readonly acceptsCodes: boolean
  /** Whether a login with a password alone leads to a set-up. */
  readonly isRequired: boolean
  /** `unauthorized` with reason `code_wrong` on `code`; `rate_limited` past the limits of wrong codes. */
  checkCode(entered: EnteredCode, caller?: Caller): Promise<CheckedCode>

  /** A new secret for an app, or for one in place of that which there is. `account` is the email of the user. */
  beginSetUp(owner: SetUpOwner, account: string): Promise<OfferedSetUp>
  /** The same secret again, after a wrong code; undefined when its time is over or it is another's. */
  continueSetUp(owner: SetUpOwner, account: string, sealed: string | undefined): Promise<OfferedSetUp | undefined>
  /** `unauthorized` on `code` for a wrong code; `gone` on `code` when a new secret is needed. */
  checkSetUp(
    owner: SetUpOwner,
    first: { sealed: string | undefined; code: string },
    caller?: Caller,
  ): Promise<CheckedSetUp>
  /** The same for the user of a session, who must have authenticated recently. */
  checkOwnSetUp(
    own: ChangingSession,
    first: { sealed: string | undefined; code: string },
    caller?: Caller,
  ): Promise<OwnSetUp>
  /** The app goes; recovery codes go too where no passkey is left. `not_found` when there is none. */
  remove(own: ChangingSession, caller: Caller): Promise<void>

  /** Ten new codes in place of all others; `conflict` where there is nothing that they could stand for. */
  renewRecoveryCodes(own: ChangingSession, caller: Caller): Promise<string[]>
  /** For the first passkey: hashed, to be inserted in its transaction. Undefined where the account has some. */
  prepareRecoveryCodes(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes | undefined>
  /** Recovery codes for the cookie that takes them to the page which shows them once. */
  sealCodes(userId: string, codes: string[]): Promise<string>
  /** Undefined for those of another user, and after ten minutes. */
  openCodes(userId: string, sealed: string | undefined): Promise<string[] | undefined>
}

interface SecondFactorsDeps extends FactorChangesDeps {
  isRequired: boolean
}

export const createSecondFactors = (deps: SecondFactorsDeps): SecondFactors => ({
  ...deps.factors,
  acceptsCodes: deps.acceptsCodes,
  isRequired: deps.isRequired,
  ...onDemand(
    async () => (await import('./factor-changes.ts')).createFactorChanges(deps),
    'checkCode',
    'beginSetUp',
    'continueSetUp',
    'checkSetUp',
    'checkOwnSetUp',
    'remove',
    'renewRecoveryCodes',
    'prepareRecoveryCodes',
    'sealCodes',
    'openCodes',
  ),
})
