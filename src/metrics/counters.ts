import { Counter, type Registry } from 'prom-client'
import type { AuditType } from '../audit/audit-event.ts'
import type { ClientKind } from '../clients/clients.ts'
import {
  ASKED_FACTORS,
  CLIENT_ERRORS,
  EMAIL_SIGN_IN_OUTCOMES,
  LOGIN_OUTCOMES,
  PASSKEY_OUTCOMES,
  SIGNUP_OUTCOMES,
} from '../http/request-metrics.ts'
import { MAIL_OUTCOMES } from '../mail/mail.ts'
import { CODE_OUTCOMES } from '../second-factor/code-outcome.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import { DELIVERY_OUTCOMES } from '../webhooks/attempt-store.ts'

const REFRESH_OUTCOMES: Record<RefreshResult['outcome'], true> = {
  rotated: true,
  grace: true,
  reused: true,
  replaced: true,
  unknown: true,
}

interface CounterRow {
  name: string
  help: string
  /** It is `outcome` unless this says otherwise. */
  label?: string
  /** These values begin at 0, so that Prometheus sees their first event as an increase. */
  known: readonly (string | number)[]
}

/** These are the counters with one label, by the function that counts one event. */
export const COUNTERS = {
  countUnreadable: {
    name: 'svc_http_unreadable_requests_total',
    help: 'Requests that could not be read as HTTP and were refused before any route, by status.',
    label: 'status',
    known: [] as number[],
  },
  countRefresh: {
    name: 'svc_session_refreshes_total',
    help: 'Session refreshes, by outcome. `reused`: a token that was replaced long ago was used again; its session was ended.',
    known: Object.keys(REFRESH_OUTCOMES),
  },
  countLogin: {
    name: 'svc_logins_total',
    help: 'Login attempts, by outcome.',
    known: LOGIN_OUTCOMES,
  },
  countSignup: {
    name: 'svc_signups_total',
    help: 'Signup attempts, by outcome.',
    known: SIGNUP_OUTCOMES,
  },
  countPasskey: {
    name: 'svc_passkey_sign_ins_total',
    help: 'Sign-ins and confirmations with a passkey, by outcome. `refused`: unknown, of another site, or too late.',
    known: PASSKEY_OUTCOMES,
  },
  countEmailSignIn: {
    name: 'svc_email_sign_ins_total',
    help: 'Sign-ins by mail: what was asked for, and what became of codes and links. `passkey_needed`: the account has a passkey, and did not know the browser.',
    known: EMAIL_SIGN_IN_OUTCOMES,
  },
  countAskedFactor: {
    name: 'svc_second_factors_asked_total',
    help: 'Sign-ins that wait for a code (`code`), or for the user to set a second factor up (`set_up`).',
    label: 'factor',
    known: ASKED_FACTORS,
  },
  countCode: {
    name: 'svc_second_factor_codes_total',
    help: 'Entered codes of authenticator apps and recovery codes, by outcome. `limited`: not looked at.',
    known: CODE_OUTCOMES,
  },
  countRefusal: {
    name: 'svc_rate_limit_refusals_total',
    help: 'Requests that a rate limit refused, by limit.',
    label: 'limit',
    known: [] as string[],
  },
  countDelivery: {
    name: 'svc_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook event, by outcome. `retried`: failed, and there will be another.',
    known: DELIVERY_OUTCOMES,
  },
  countMail: {
    name: 'svc_mail_messages_total',
    help: 'Messages by what became of them. `retried`: an attempt failed, and there will be another. `dropped`: there was nothing to send any more, or no account.',
    known: MAIL_OUTCOMES,
  },
  countRecord: {
    name: 'svc_audit_events_total',
    help: 'What happened, by type, as it is recorded in the database.',
    label: 'type',
    known: [] as AuditType[],
  },
  countDeleted: {
    name: 'svc_housekeeping_deleted_rows_total',
    help: 'Rows deleted because they were past their time, by chore.',
    label: 'chore',
    known: [] as string[],
  },
} satisfies Record<string, CounterRow>

/** These are there while svc is the OAuth server of its application. */
export const CLIENT_COUNTERS = {
  countGrant: {
    name: 'svc_client_grants_total',
    help: 'Grants that clients were given for a code, by kind of client.',
    label: 'kind',
    known: Object.keys({ operator: true, registered: true, document: true } satisfies Record<ClientKind, true>),
  },
  countTokenResponse: {
    name: 'svc_client_tokens_total',
    help: 'Responses with an access token, by what the client has traded for it.',
    label: 'grant_type',
    known: ['authorization_code', 'refresh_token'],
  },
  countClientError: {
    name: 'svc_client_errors_total',
    help: 'Errors that clients were told, or that a page has shown in their place, by name.',
    label: 'error',
    known: CLIENT_ERRORS,
  },
} satisfies Record<string, CounterRow>

export type CountersOf<Rows extends Record<string, CounterRow>> = {
  [Key in keyof Rows]: (value: Rows[Key]['known'][number], by?: number) => void
}

export const createCounters = <Rows extends Record<string, CounterRow>>(registry: Registry, rows: Rows) =>
  Object.fromEntries(
    Object.entries<CounterRow>(rows).map(([key, row]) => [key, createCounter(registry, row)]),
  ) as CountersOf<Rows>

const createCounter = (registry: Registry, { name, help, label = 'outcome', known }: CounterRow) => {
  const metric = new Counter({ name, help, labelNames: [label], registers: [registry] })
  const children = new Map(known.map((value) => [value, metric.labels(String(value))]))
  for (const child of children.values()) child.inc(0)
  return (value: string | number, by = 1): void => (children.get(value) ?? metric.labels(String(value))).inc(by)
}
