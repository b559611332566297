import type { SignInProblem } from './errors.ts'

type Account = 'none' | 'active' | 'disabled'

export interface SignInFacts {
  /** The provider account is connected to this account. */
  connectedAccount: Account
  /** It is the state of the email in the provider's profile. */
  email: 'missing' | 'unverified' | 'verified'
  /** This account has the email; it is looked up only when no account is connected and the email is verified. */
  accountWithEmail: Account | 'invited'
  signup: 'open' | 'closed'
  /** It tells whether a new account may have an email of this domain. */
  domain: 'accepted' | 'refused'
}

/**
 * `enter_invited` gives an account that was made by an invitation to the owner of its email. `link_account` asks the
 * user to prove that the account with their email is theirs. A problem refuses the sign-in.
 */
export type SignInOutcome =
  | 'sign_in'
  | 'create_account'
  | 'enter_invited'
  | 'link_account'
  | Extract<
      SignInProblem,
      'disabled' | 'signup_closed' | 'email_missing' | 'email_unverified' | 'email_domain_not_accepted'
    >

/**
 * The table says what happens to a user who comes back from a provider. The first row that fits decides. An email alone
 * never signs anyone in: an attacker may have created the account before the owner of the email came. Nobody has
 * entered an invited account, which waits for the owner of its email.
 */
const POLICY: readonly (readonly [when: Partial<SignInFacts>, outcome: SignInOutcome])[] = [
  [{ connectedAccount: 'active' }, 'sign_in'],
  [{ connectedAccount: 'disabled' }, 'disabled'],
  // This row comes before the email's problem: users who correct their email would still get no account.
  [{ email: 'missing', signup: 'closed' }, 'signup_closed'],
  [{ email: 'unverified', signup: 'closed' }, 'signup_closed'],
  [{ email: 'unverified', domain: 'refused' }, 'email_domain_not_accepted'],
  [{ email: 'missing' }, 'email_missing'],
  [{ email: 'unverified' }, 'email_unverified'],
  [{ accountWithEmail: 'invited' }, 'enter_invited'],
  [{ accountWithEmail: 'active' }, 'link_account'],
  [{ accountWithEmail: 'disabled' }, 'disabled'],
  [{ signup: 'open', domain: 'refused' }, 'email_domain_not_accepted'],
  [{ signup: 'open' }, 'create_account'],
]

export const decideSignIn = (facts: SignInFacts): SignInOutcome =>
  POLICY.find(([when]) => fits(facts, when))?.[1] ?? 'signup_closed'

const fits = (facts: SignInFacts, when: Partial<SignInFacts>): boolean =>
  (Object.keys(when) as (keyof SignInFacts)[]).every((name) => facts[name] === when[name])
