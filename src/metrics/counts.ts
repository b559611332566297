import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { AUDIT_TYPES, type AuditType } from '../audit/audit-event.ts'
import type { ClientKind, OnTokens } from '../clients/clients.ts'
import {
  ASKED_FACTORS,
  CLIENT_ERRORS,
  LOGIN_OUTCOMES,
  PASSKEY_OUTCOMES,
  PROVIDER_OUTCOMES,
  type RequestMetrics,
  SIGNUP_OUTCOMES,
} from '../http/request-metrics.ts'
import { LIMITS, type LimitName, labelOf, limitNamesFor } from '../limits/limit-table.ts'
import { MAIL_OUTCOMES } from '../mail/mail.ts'
import { CODE_OUTCOMES } from '../second-factor/code-outcome.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import { DELIVERY_OUTCOMES } from '../webhooks/attempt-store.ts'
import { createRequestDurations } from './request-durations.ts'

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
const COUNTERS = {
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
const CLIENT_COUNTERS = {
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

/** While the OAuth server is off, records of these types are rare, and have no series before the first. */
const OF_CLIENTS = /^(?:client|grant|code)\./

type CountersOf<Rows extends Record<string, CounterRow>> = {
  [Key in keyof Rows]: (value: Rows[Key]['known'][number], by?: number) => void
}

type Counters = CountersOf<typeof COUNTERS>
type ClientCounters = CountersOf<typeof CLIENT_COUNTERS>

export interface Counts extends Omit<Counters, 'countRefusal'>, Omit<RequestMetrics, keyof Counters> {
  countTokens: OnTokens
  countLimited: (limit: LimitName) => void
  observeHash: (seconds: number) => void
}

interface Counted {
  providers: readonly string[]
  clients: boolean
  administration: boolean
}

export const createCounts = (registry: Registry, { providers, clients, administration }: Counted): Counts => {
  const registers = [registry]
  const limits = limitNamesFor({ clients, administration })
  const { countRefusal, ...counters } = createCounters(registry, {
    ...COUNTERS,
    countRefusal: { ...COUNTERS.countRefusal, known: limits.map(labelOf) },
    countRecord: { ...COUNTERS.countRecord, known: AUDIT_TYPES.filter((type) => clients || !OF_CLIENTS.test(type)) },
  })
  const refusedConnections = new Counter({
    name: 'svc_http_connections_refused_total',
    help: 'Connections that were closed unread because there were too many (SVC_MAX_CONNECTIONS).',
    registers,
  })
  const hashDurations = new Histogram({
    name: 'svc_password_hash_duration_seconds',
    help: 'Duration of a password hash, without its wait in the queue.',
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
    registers,
  })
  addLimitFigures(registry, limits)
  return {
    ...counters,
    ...createClientCounts(registry, clients),
    observeRequest: createRequestDurations(registry),
    countRefusedConnection: () => refusedConnections.inc(),
    countLimited: (limit) => countRefusal(labelOf(limit)),
    countProviderSignIn: createProviderCount(registry, providers),
    observeHash: (seconds) => hashDurations.observe(seconds),
  }
}

const createCounters = <Rows extends Record<string, CounterRow>>(registry: Registry, rows: Rows) =>
  Object.fromEntries(
    Object.entries<CounterRow>(rows).map(([key, row]) => [key, createCounter(registry, row)]),
  ) as CountersOf<Rows>

const createClientCounts = (registry: Registry, isOn: boolean): Pick<Counts, 'countTokens' | 'countClientError'> => {
  if (!isOn) return { countTokens: () => {}, countClientError: () => {} }
  const counters: ClientCounters = createCounters(registry, CLIENT_COUNTERS)
  return {
    countClientError: counters.countClientError,
    countTokens: (kind, grantType) => {
      if (grantType === 'authorization_code') counters.countGrant(kind)
      counters.countTokenResponse(grantType)
    },
  }
}

const createCounter = (registry: Registry, { name, help, label = 'outcome', known }: CounterRow) => {
  const metric = new Counter({ name, help, labelNames: [label], registers: [registry] })
  const children = new Map(known.map((value) => [value, metric.labels(String(value))]))
  for (const child of children.values()) child.inc(0)
  return (value: string | number, by = 1): void => (children.get(value) ?? metric.labels(String(value))).inc(by)
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

/** Adds the figures of all limits of tries, which never change. */
const addLimitFigures = (registry: Registry, names: readonly LimitName[]): void => {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['limit'], registers: [registry] })
  const tries = gauge('svc_rate_limit_tries', 'How many tries a limit allows within one window.')
  const windows = gauge('svc_rate_limit_window_seconds', 'How long the window of a limit is.')
  for (const limit of names) {
    const labels = { limit: labelOf(limit) }
    tries.set(labels, LIMITS[limit].tries)
    windows.set(labels, LIMITS[limit].windowMs / 1000)
  }
}
