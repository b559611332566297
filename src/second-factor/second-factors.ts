import type { Caller } from '../lib/caller.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { Queries } from '../storage/database.ts'
import type { CheckedCode, EnteredCode } from './code-check.ts'
import type { ChangingSession, FactorChangesDeps, OwnSetUp } from './factor-changes.ts'
import type { PreparedRecoveryCodes } from './recovery-code-sets.ts'
import { countFactors } from './second-factor-store.ts'
import type { CheckedSetUp, OfferedSetUp, SetUpOwner } from './set-up.ts'

export type { CheckedCode } from './code-check.ts'
export type { CodePlace } from './code-limits.ts'

/** What an account can prove besides password and providers, as far as the settings allow it. */
export interface AccountFactors {
  /** Codes of an authenticator app. */
  codes: boolean
  /** How many are left; none count where there is nothing else that they could stand for. */
  recoveryCodes: number
  passkeys: number
}

/** Codes of an authenticator app, and recovery codes. */
export interface SecondFactors {
  /** Whether codes of an app can be set up and are accepted (`SVC_SECOND_FACTOR`). */
  readonly acceptsCodes: boolean
  /** Whether a login with a password alone leads to a set-up. */
  readonly isRequired: boolean
  /**
   * Of what was made before `madeBeforeMs`; of everything when left out. Recovery codes from before count also where
   * what they stood for was replaced since.
   */
  find(userId: string, queries?: Pick<Queries, 'get'>, madeBeforeMs?: number): Promise<AccountFactors>
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

interface SecondFactorsDeps extends Omit<FactorChangesDeps, 'hasFactor'> {
  /** Whether passkeys are on. */
  acceptsPasskeys: boolean
  isRequired: boolean
}

export const createSecondFactors = (deps: SecondFactorsDeps): SecondFactors => {
  const { db, acceptsCodes, acceptsPasskeys, isRequired } = deps

  const findAccepted = async (userId: string, queries: Pick<Queries, 'get'>, madeBeforeMs: number) => {
    const stored = await countFactors(queries, userId, madeBeforeMs)
    return { ...stored, codes: acceptsCodes && stored.codes > 0, passkeys: acceptsPasskeys ? stored.passkeys : 0 }
  }

  const hasFactor = async (userId: string, queries: Pick<Queries, 'get'> = db): Promise<boolean> => {
    const { codes, passkeys } = await findAccepted(userId, queries, Number.MAX_SAFE_INTEGER)
    return codes || passkeys > 0
  }

  const find: SecondFactors['find'] = async (userId, queries = db, madeBeforeMs?: number) => {
    const found = await findAccepted(userId, queries, madeBeforeMs ?? Number.MAX_SAFE_INTEGER)
    if (found.codes || found.passkeys > 0) return found
    // What they stood for then was replaced by something newer.
    const stand = madeBeforeMs !== undefined && found.recoveryCodes > 0 && (await hasFactor(userId, queries))
    return { ...found, recoveryCodes: stand ? found.recoveryCodes : 0 }
  }

  return {
    acceptsCodes,
    isRequired,
    find,

    ...onDemand(
      async () => (await import('./factor-changes.ts')).createFactorChanges({ ...deps, hasFactor }),
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
  }
}
