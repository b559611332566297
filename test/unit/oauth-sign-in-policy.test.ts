// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideSignIn, type SignInFacts, type SignInOutcome } from '../../src/oauth/sign-in-policy.ts'

type Account = SignInFacts['accountWithEmail']
const ACCOUNTS: readonly Account[] = ['none', 'active', 'invited', 'disabled']
const EMAILS: readonly SignInFacts['email'][] = ['missing', 'unverified', 'verified']

const sameFor = (outcome: SignInOutcome) => ({ none: outcome, active: outcome, invited: outcome, disabled: outcome })

/** For users whose provider account is connected to no account: what happens, by the account with their email. */
const NOT_CONNECTED: Record<SignInFacts['signup'], Record<SignInFacts['email'], Record<Account, SignInOutcome>>> = {
  open: {
    missing: sameFor('email_missing'),
    unverified: sameFor('email_unverified'),
    verified: { none: 'create_account', active: 'link_account', invited: 'enter_invited', disabled: 'disabled' },
  },
  closed: {
    missing: sameFor('signup_closed'),
    unverified: sameFor('signup_closed'),
    verified: { none: 'signup_closed', active: 'link_account', invited: 'enter_invited', disabled: 'disabled' },
  },
}

/** What becomes of these outcomes where the domain of the email is not accepted: it counts for new accounts alone. */
const REFUSED_DOMAIN: Partial<Record<SignInOutcome, SignInOutcome>> = {
  create_account: 'email_domain_not_accepted',
  email_unverified: 'email_domain_not_accepted',
}

for (const signup of ['open', 'closed'] as const) {
  describe(`signup ${signup}`, () => {
    for (const email of EMAILS) {
      for (const accountWithEmail of ACCOUNTS) {
        const facts = { email, accountWithEmail, signup, domain: 'accepted' } as const
        const title = `email ${email}, account with this email: ${accountWithEmail}`

        test(`connected to an active account, ${title}: sign_in`, () =>
          assert.equal(decideSignIn({ ...facts, connectedAccount: 'active' }), 'sign_in'))

        test(`connected to a disabled account, ${title}: disabled`, () =>
          assert.equal(decideSignIn({ ...facts, connectedAccount: 'disabled' }), 'disabled'))

        const outcome = NOT_CONNECTED[signup][email][accountWithEmail]
        test(`not connected, ${title}: ${outcome}`, () =>
          assert.equal(decideSignIn({ ...facts, connectedAccount: 'none' }), outcome))

        const refused = REFUSED_DOMAIN[outcome] ?? outcome
        test(`not connected, ${title}, of a domain that is not accepted: ${refused}`, () =>
          assert.equal(decideSignIn({ ...facts, connectedAccount: 'none', domain: 'refused' }), refused))
      }
    }
  })
}
