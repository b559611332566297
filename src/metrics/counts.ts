import { Counter, Histogram, type Registry } from 'prom-client'
import { AUDIT_TYPES, type AuditType } from '../audit/audit-event.ts'
import { LIMIT_NAMES, type LimitName, labelOf } from '../limits/limit-table.ts'
import type { RequestMetrics } from '../http/request-metrics.ts'
import { MAIL_OUTCOMES, type MailOutcome } from '../mail/mail.ts'
import { CODE_OUTCOMES, type CodeOutcome } from '../second-factor/code-outcome.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../webhooks/attempt-store.ts'
import { createCounters } from './counters.ts'
import { addLimitFigures } from './limit-figures.ts'
import { createRequestDurations } from './request-durations.ts'
import { createSignInCounts, type SignInCounts } from './sign-in-counts.ts'

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
  countCode: (outcome: CodeOutcome) => void
  /** Counts what was recorded, and how often. */
  countRecord: (type: AuditType, count: number) => void
  /** Adds the rows that a cleanup job has deleted. */
  countDeleted: (job: string, rows: number) => void
}

/** The metrics that are counted as things happen. */
export interface Counts extends HttpCounts, CoreCounts {}

export const createCounts = (registry: Registry, providers: readonly string[]): Counts => ({
  ...createHttpCounts(registry),
  ...createSignInCounts(registry, providers),
  ...createCoreCounts(registry),
  countRecord: createCounters(registry)<AuditType>(
    'svc_audit_events_total',
    'What happened, by type, as it is recorded in the database.',
    'type',
    AUDIT_TYPES,
  ),
})

const createHttpCounts = (registry: Registry): Omit<HttpCounts, keyof SignInCounts> => {
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
    LIMIT_NAMES.map(labelOf),
  )
  addLimitFigures(registry)
  return {
    observeRequest: createRequestDurations(registry),
    countRefusedConnection: () => refusedConnections.inc(),
    countUnreadable: (status) => countUnreadable(String(status)),
    countRefresh: counter(
      'svc_session_refreshes_total',
      'Session refreshes, by outcome. `reused`: a token that was replaced long ago was used again; its session was ended.',
      'outcome',
      Object.keys(REFRESH_OUTCOMES) as RefreshResult['outcome'][],
    ),
    countLimited: (limit) => countLimited(labelOf(limit)),
  }
}

const createCoreCounts = (registry: Registry): Omit<CoreCounts, 'countRecord'> => {
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
    countCode: counter<CodeOutcome>(
      'svc_second_factor_codes_total',
      'Entered codes of authenticator apps and recovery codes, by outcome. `limited`: not looked at.',
      'outcome',
      CODE_OUTCOMES,
    ),
    countDeleted: counter<string>(
      'svc_housekeeping_deleted_rows_total',
      'Rows deleted because they were past their time, by chore.',
      'chore',
    ),
  }
}
