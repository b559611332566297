import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { AUDIT_TYPES } from '../audit/audit-event.ts'
import type { OnTokens } from '../clients/clients.ts'
import { PROVIDER_OUTCOMES, type RequestMetrics } from '../http/request-metrics.ts'
import { LIMITS, type LimitName, labelOf, limitNamesFor } from '../limits/limit-table.ts'
import { CLIENT_COUNTERS, COUNTERS, type CountersOf, createCounters } from './counters.ts'
import { createRequestDurations } from './request-durations.ts'

/** While the OAuth server is off, records of these types are rare, and have no series before the first. */
const OF_CLIENTS = /^(?:client|grant|code)\./

type Counters = CountersOf<typeof COUNTERS>
type ClientCounters = CountersOf<typeof CLIENT_COUNTERS>

export interface Counts extends Omit<Counters, 'countRefusal'>, Omit<RequestMetrics, keyof Counters> {
  countTokens: OnTokens
  countLimited: (limit: LimitName) => void
  observeHash: (seconds: number) => void
  /** Shows how many readers of revocations wait. */
  showReaders: (count: number) => void
  /** Counts the seconds after which readers of revocations were told of one. */
  observeLag: (seconds: number) => void
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
    ...createFeedFigures(registers),
    ...createClientCounts(registry, clients),
    observeRequest: createRequestDurations(registry),
    countRefusedConnection: () => refusedConnections.inc(),
    countLimited: (limit) => countRefusal(labelOf(limit)),
    countProviderSignIn: createProviderCount(registry, providers),
    observeHash: (seconds) => hashDurations.observe(seconds),
  }
}

const createFeedFigures = (registers: Registry[]): Pick<Counts, 'showReaders' | 'observeLag'> => {
  const readers = new Gauge({
    name: 'svc_revocation_readers',
    help: 'Readers of revocations that wait for the next one.',
    registers,
  })
  const lag = new Histogram({
    name: 'svc_revocation_lag_seconds',
    help: 'Time after which readers that wait could be told of a revocation, the oldest of each poll.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  return { showReaders: (count) => readers.set(count), observeLag: (seconds) => lag.observe(seconds) }
}

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
