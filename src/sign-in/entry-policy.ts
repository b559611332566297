/**
 * A user comes in by one of these ways. `trusted_provider`: the settings of the provider, or its claims about this
 * sign-in, spare the code. `mail_code`, `mail_link`: a message has brought a code or a link that signs in.
 * `operator_link`: an operator has handed such a link over. `verification`: a link verifies the address, in the browser
 * that asked for it. `recovery`: a link sets a new password, and its page has asked for the second factor already.
 */
export type WayIn =
  | 'password'
  | 'provider'
  | 'trusted_provider'
  | 'mail_code'
  | 'mail_link'
  | 'operator_link'
  | 'verification'
  | 'recovery'

/** These facts decide about the rest of a sign-in, once the user has proved the first part. */
export interface EntryFacts {
  way: WayIn
  /** `connect` connects a provider to the account first. */
  purpose: 'sign_in' | 'connect'
  /** The account has `codes`, perhaps with passkeys beside them, or passkeys alone. */
  factors: 'none' | 'passkeys' | 'codes'
  /** It tells whether the user has said here, after a right code, that this browser need not be asked again. */
  browser: 'trusted' | 'other'
  mode: 'off' | 'optional' | 'required'
}

/** `ask` asks for a code, a recovery code or a passkey of the account; `enrol` has the user set one up. */
export type EntryOutcome = 'start' | 'ask' | 'enrol'

/**
 * The table says what else a sign-in needs before its session starts. The first row that fits decides. A trusted
 * browser spares the code after a password, a provider or a sign-in by mail, and nothing else. A passkey is no second factor for a
 * password: if an account has nothing else, it is asked for only when one is required.
 */
const POLICY: readonly (readonly [when: Partial<EntryFacts>, outcome: EntryOutcome])[] = [
  [{ mode: 'off' }, 'start'],
  [{ way: 'trusted_provider' }, 'start'],
  [{ way: 'provider', factors: 'none' }, 'start'],
  // A password and a provider are more than a password alone.
  [{ purpose: 'connect', factors: 'none' }, 'start'],
  [{ mode: 'required', factors: 'none' }, 'enrol'],
  [{ way: 'recovery' }, 'start'],
  [{ way: 'password', purpose: 'sign_in', browser: 'trusted' }, 'start'],
  [{ way: 'provider', purpose: 'sign_in', browser: 'trusted' }, 'start'],
  [{ way: 'mail_code', purpose: 'sign_in', browser: 'trusted' }, 'start'],
  [{ way: 'mail_link', purpose: 'sign_in', browser: 'trusted' }, 'start'],
  [{ factors: 'codes' }, 'ask'],
  [{ mode: 'required', factors: 'passkeys' }, 'ask'],
]

export const decideEntry = (facts: EntryFacts): EntryOutcome =>
  POLICY.find(([when]) => fits(facts, when))?.[1] ?? 'start'

const fits = (facts: EntryFacts, when: Partial<EntryFacts>): boolean =>
  (Object.keys(when) as (keyof EntryFacts)[]).every((name) => facts[name] === when[name])
