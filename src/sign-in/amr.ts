import type { AuthenticationMethod, SignInGrant } from '../sessions/sign-in-grant.ts'

/**
 * A user shows one of these to get in. A link in a message stands for a password; `mail` is a code or a link that signs
 * in by itself. A provider with a factor has asked for one itself, as its ID token says. A passkey is bound to its
 * device, or synced.
 */
export type Proof =
  | 'password'
  | 'link'
  | 'mail'
  | 'provider'
  | 'provider_with_factor'
  | 'bound_passkey'
  | 'synced_passkey'
  | 'one_time_code'
  | 'recovery_code'

/** A proof is shown for a purpose: `enter` an account by a link, `set_up` a factor in a session or on the way in. */
export type Purpose = 'sign_in' | 'connect' | 'confirm' | 'enter' | 'set_up'

/** `amr` is empty, and the time undefined, if it is not known what was proved. */
export type Authentication = Pick<SignInGrant, 'amr' | 'authenticatedAtMs'>

/** A user shows it after the first proof. */
export interface SecondProof {
  proof: Proof
  /** When a passkey has signed in; undefined for anything else, and for one that was used up on the way to a provider. */
  provedAtMs?: number | undefined
}

/**
 * This is the `amr` of each proof by itself (CONTRACT.md 3.1). The methods of a code are added to those of the first
 * proof.
 */
const AMR: Readonly<Record<Proof, readonly AuthenticationMethod[]>> = {
  password: ['pwd'],
  link: ['pwd'],
  mail: ['otp'],
  provider: ['fed'],
  provider_with_factor: ['fed', 'mfa'],
  bound_passkey: ['hwk', 'mfa'],
  synced_passkey: ['swk', 'mfa'],
  one_time_code: ['otp', 'mfa'],
  recovery_code: ['mfa'],
}

export const amrOf = (proof: Proof): readonly AuthenticationMethod[] => AMR[proof]

const isPasskey = (proof: Proof): boolean => proof === 'bound_passkey' || proof === 'synced_passkey'

/** A code says nothing if it is not known what came first: alone it is not more than one factor. */
const withCode = (first: Authentication['amr'], code: Proof): Authentication['amr'] => {
  if (first.length === 0) return []
  const added = AMR[code]
  return [...first.filter((method) => !added.includes(method)), ...added]
}

/**
 * Adds a second proof to the first. A passkey proves everything by itself, and takes the place of the first proof. The
 * time stays that of the first, since nothing that was proved may be older than it says; a passkey that signs in has a
 * time of its own. One that is being set up has not, nor has one that was used up on the way to a provider.
 */
export const authenticatedBy = (
  first: Authentication,
  second: SecondProof | undefined,
  purpose: Purpose,
): Authentication => {
  const { amr, authenticatedAtMs } = first
  if (!second) return { amr, authenticatedAtMs }
  if (!isPasskey(second.proof)) return { amr: withCode(amr, second.proof), authenticatedAtMs }
  return {
    amr: AMR[second.proof],
    authenticatedAtMs: purpose === 'set_up' ? authenticatedAtMs : (second.provedAtMs ?? authenticatedAtMs),
  }
}
