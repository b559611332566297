import { Counter, type Registry } from 'prom-client'
import {
  ASKED_FACTORS,
  LOGIN_OUTCOMES,
  PASSKEY_OUTCOMES,
  PROVIDER_OUTCOMES,
  type RequestMetrics,
  SIGNUP_OUTCOMES,
} from '../http/request-metrics.ts'
import { createCounters } from './counters.ts'

export type SignInCounts = Pick<
  RequestMetrics,
  'countLogin' | 'countSignup' | 'countProviderSignIn' | 'countPasskey' | 'countAskedFactor'
>

/** How users come in. */
export const createSignInCounts = (registry: Registry, providers: readonly string[]): SignInCounts => {
  const counter = createCounters(registry)
  return {
    countLogin: counter('svc_logins_total', 'Login attempts, by outcome.', 'outcome', LOGIN_OUTCOMES),
    countSignup: counter('svc_signups_total', 'Signup attempts, by outcome.', 'outcome', SIGNUP_OUTCOMES),
    countProviderSignIn: createProviderCount(registry, providers),
    countPasskey: counter(
      'svc_passkey_sign_ins_total',
      'Sign-ins and confirmations with a passkey, by outcome. `refused`: unknown, of another site, or too late.',
      'outcome',
      PASSKEY_OUTCOMES,
    ),
    countAskedFactor: counter(
      'svc_second_factors_asked_total',
      'Sign-ins that wait for a code (`code`), or for the user to set a second factor up (`set_up`).',
      'factor',
      ASKED_FACTORS,
    ),
  }
}

const createProviderCount = (
  registry: Registry,
  providers: readonly string[],
): RequestMetrics['countProviderSignIn'] => {
  const metric = new Counter({
    name: 'svc_provider_sign_ins_total',
    help: 'Sign-ins with a provider that came back or failed on the way there, by provider and outcome.',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  })
  for (const provider of providers) for (const outcome of PROVIDER_OUTCOMES) metric.inc({ provider, outcome }, 0)
  return (provider, outcome) => metric.inc({ provider, outcome })
}
