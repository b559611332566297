import { Counter, Histogram, type Registry } from 'prom-client'
import { LIMIT_NAMES, type LimitName } from '../http/rate-limit.ts'
import { LOGIN_OUTCOMES, PROVIDER_OUTCOMES, type RequestMetrics, SIGNUP_OUTCOMES } from '../http/request-metrics.ts'
import { MAIL_OUTCOMES, type MailOutcome } from '../mail/mail.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../webhooks/delivery-outcome.ts'
import { createRequestDurations } from './request-durations.ts'

const REFRESH_OUTCOMES: Record<RefreshResult['outcome'], true> = {
  rotated: true,
  grace: true,
  reused: true,
  replaced: true,
  unknown: true,
}

interface HttpCounts extends RequestMetrics {
  /** Counts a request that a rate limit refused. */
  countLimited: (limit: LimitName) => void
}

interface CoreCounts {
  observeHash: (seconds: number) => void
  countDelivery: (outcome: DeliveryOutcome) => void
  countMail: (outcome: MailOutcome) => void
  /** Adds the rows that a cleanup job has deleted. */
  countDeleted: (job: string, rows: number) => void
}

/** The metrics that are counted as things happen. */
export interface Counts extends HttpCounts, CoreCounts {}

export const createCounts = (registry: Registry, providers: readonly string[]): Counts => ({
  ...createHttpCounts(registry),
  ...createCoreCounts(registry),
  countProviderSignIn: createProviderCount(registry, providers),
})

const createHttpCounts = (registry: Registry): Omit<HttpCounts, 'countProviderSignIn'> => {
  const counter = createCounters(registry)
  const countUnreadable = counter<string>(
    'svc_http_unreadable_requests_total',
    'Requests that could not be read as HTTP and were refused before any route, by status.',
    'status',
  )
  const refusedConnections = new Counter({
    name: 'svc_http_connections_refused_total',
    help: 'Connections that were closed unread because there were too many (SVC_MAX_CONNECTIONS).',
    registers: [registry],
  })
  const countLimited = counter(
    'svc_rate_limit_refusals_total',
    'Requests that a rate limit refused, by limit.',
    'limit',
    LIMIT_NAMES.map(toSnakeCase),
  )
  return {
    observeRequest: createRequestDurations(registry),
    countRefusedConnection: () => refusedConnections.inc(),
    countUnreadable: (status) => countUnreadable(String(status)),
    countLogin: counter('svc_logins_total', 'Login attempts, by outcome.', 'outcome', LOGIN_OUTCOMES),
    countSignup: counter('svc_signups_total', 'Signup attempts, by outcome.', 'outcome', SIGNUP_OUTCOMES),
    countRefresh: counter(
      'svc_session_refreshes_total',
      'Session refreshes, by outcome. `reused`: a token that was replaced long ago was used again; its session was ended.',
      'outcome',
      Object.keys(REFRESH_OUTCOMES) as RefreshResult['outcome'][],
    ),
    countLimited: (limit) => countLimited(toSnakeCase(limit)),
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

const createCoreCounts = (registry: Registry): CoreCounts => {
  const counter = createCounters(registry)
  const hashDurations = new Histogram({
    name: 'svc_password_hash_duration_seconds',
    help: 'Duration of a password hash, without its wait in the queue.',
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
    registers: [registry],
  })
  return {
    observeHash: (seconds) => hashDurations.observe(seconds),
    countDelivery: counter<DeliveryOutcome>(
      'svc_webhook_deliveries_total',
      'Attempts to deliver a webhook event, by outcome. `retried`: failed, and there will be another.',
      'outcome',
      DELIVERY_OUTCOMES,
    ),
    countMail: counter<MailOutcome>(
      'svc_mail_messages_total',
      'Messages by what became of them. `retried`: an attempt failed, and there will be another. `dropped`: there was nothing to send any more, or no account.',
      'outcome',
      MAIL_OUTCOMES,
    ),
    countDeleted: counter<string>(
      'svc_housekeeping_deleted_rows_total',
      'Rows deleted because they were past their time, by chore.',
      'chore',
    ),
  }
}

/**
 * Creates counters with one label. Known values begin at 0, so that Prometheus sees their first event as an increase.
 */
const createCounters =
  (registry: Registry) =>
  <Value extends string>(name: string, help: string, label: string, known: readonly Value[] = []) => {
    const metric = new Counter({ name, help, labelNames: [label], registers: [registry] })
    const children = new Map(known.map((value) => [value, metric.labels(value)]))
    for (const child of children.values()) child.inc(0)
    return (value: Value, by = 1): void => (children.get(value) ?? metric.labels(value)).inc(by)
  }

/** Turns `loginOfAddress` into `login_of_address`. */
const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
