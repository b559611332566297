// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type AuthorizeFacts,
  type AuthorizeOutcome,
  type ConsentFacts,
  type ConsentOutcome,
  decideAuthorize,
  decideConsent,
} from '../../src/clients/authorize-policy.ts'

type Row = Record<ConsentFacts['asksFor'], ConsentOutcome>
const always = (outcome: ConsentOutcome): Row => ({ nothing: outcome, account: outcome, consent: outcome })

describe('who is asked for consent', () => {
  /** By client, redirect, and whether it is remembered. */
  const EXPECTED: [ConsentFacts['client'], ConsentFacts['redirect'], boolean[], Row][] = [
    ['stranger', 'https', [true, false], always('consent')],
    ['stranger', 'program', [true, false], always('consent')],
    ['operator', 'program', [true, false], always('consent')],
    ['operator', 'https', [false], always('consent')],
    ['operator', 'https', [true], { nothing: 'none', account: 'continue', consent: 'consent' }],
    ['first_party', 'program', [true, false], always('continue')],
    ['first_party', 'https', [true, false], { nothing: 'none', account: 'continue', consent: 'continue' }],
  ]
  for (const [client, redirect, remembered, row] of EXPECTED)
    for (const isRemembered of remembered)
      for (const asksFor of ['nothing', 'account', 'consent'] as const)
        test(`${client}, ${redirect}, remembered ${isRemembered}, asks for ${asksFor}: ${row[asksFor]}`, () =>
          assert.equal(decideConsent({ client, redirect, remembered: isRemembered, asksFor }), row[asksFor]))
})

const USERS = ['none', 'other', 'right'] as const
const MFA = ['enough', 'missing', 'impossible'] as const
const PROOFS = ['enough', 'missing', 'missing_for_stranger'] as const
const CONSENTS = ['none', 'continue', 'consent'] as const

/** The same rules in the order of a reader: who, how, what. */
const expected = ({ user, silent, mfa, proof, consent }: AuthorizeFacts): AuthorizeOutcome => {
  if (user !== 'right') return user === 'none' && !silent ? 'login' : 'login_required'
  if (mfa === 'impossible') return 'unmet_authentication_requirements'
  if (silent) {
    if (proof === 'missing') return 'login_required'
    if (mfa === 'missing') return 'interaction_required'
    return consent === 'none' && proof === 'enough' ? 'code' : 'consent_required'
  }
  if (mfa === 'missing') return 'confirm_mfa'
  if (proof !== 'enough') return 'confirm'
  return consent === 'none' ? 'code' : consent
}

describe('what becomes of a request', () => {
  const PAGES: ReadonlySet<AuthorizeOutcome> = new Set(['login', 'confirm', 'confirm_mfa', 'consent', 'continue'])
  for (const user of USERS)
    for (const silent of [true, false])
      for (const mfa of MFA)
        for (const proof of PROOFS)
          for (const consent of CONSENTS) {
            const facts = { user, silent, mfa, proof, consent }
            test(JSON.stringify(facts), () => {
              const outcome = decideAuthorize(facts)
              assert.equal(outcome, expected(facts))
              assert.ok(!silent || !PAGES.has(outcome), 'prompt=none shows nothing')
            })
          }
})
