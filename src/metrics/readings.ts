import { Counter, Gauge, type Registry } from 'prom-client'
import type { Awaitable } from '../lib/awaitable.ts'
import type { QueueLoad } from '../lib/bounded-queue.ts'
import { withTimeout } from '../lib/time.ts'
import type { PoolLoad } from '../storage/database.ts'
import type { OutboxLoad } from '../storage/outbox/outbox.ts'

/** The values that gauges show are read from these at each scrape. */
export interface MetricsSources {
  hashQueue: () => QueueLoad
  requireHealthy: () => Promise<void>
  /** It is undefined with SQLite, which has no pool. */
  poolLoad: () => PoolLoad | undefined
  /** It is undefined while webhooks are off. */
  outbox: () => Promise<OutboxLoad | undefined>
  /** It is undefined while mail is off. */
  mail: () => Promise<OutboxLoad | undefined>
}

interface DatabaseState {
  isUp: boolean
  outbox?: OutboxLoad | undefined
  mail?: OutboxLoad | undefined
}

/** A gauge shows one number. If there is no number, it has no value. */
type GaugeRow = [name: string, help: string, read: () => Awaitable<number | undefined>]

export const addReadings = (registry: Registry, sources: MetricsSources): void => {
  const { hashQueue, poolLoad } = sources
  const probe = createDatabaseProbe(sources)
  // The pool comes before the database, because the probe itself uses a connection of the pool.
  addHashRefusals(registry, hashQueue)
  addConnections(registry, poolLoad)
  const rows: GaugeRow[] = [
    ['svc_password_hashes_running', 'Password hashes that run at this moment.', () => hashQueue().running],
    ['svc_password_hashes_waiting', 'Password hashes that wait for a place.', () => hashQueue().waiting],
    ['svc_database_operations_waiting', 'Operations that wait for a connection.', () => poolLoad()?.waiting],
    [
      'svc_database_up',
      'Whether the database can be read and written: 1 or 0. Without an answer in time, 0.',
      async () => ((await probe()).isUp ? 1 : 0),
    ],
    [
      'svc_webhook_events_open',
      'Webhook events that are neither delivered nor given up. Counted up to 10,000.',
      async () => (await probe()).outbox?.open,
    ],
    [
      'svc_webhook_oldest_due_seconds',
      'How long the oldest due webhook event has been due; 0 if none is due.',
      async () => overdueSeconds((await probe()).outbox),
    ],
    [
      'svc_mail_messages_open',
      'Messages that are neither sent nor given up. Counted up to 10,000.',
      async () => (await probe()).mail?.open,
    ],
    [
      'svc_mail_oldest_due_seconds',
      'How long the oldest due message has been due; 0 if none is due.',
      async () => overdueSeconds((await probe()).mail),
    ],
  ]
  for (const row of rows) addGauge(registry, row)
}

const overdueSeconds = (load: OutboxLoad | undefined): number | undefined => load && load.overdueMs / 1000

const addGauge = (registry: Registry, [name, help, read]: GaugeRow): Gauge =>
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })

const addHashRefusals = (registry: Registry, load: () => QueueLoad): Counter =>
  new Counter({
    name: 'svc_password_hashes_refused_total',
    help: 'Password hashes that were refused because the queue was full.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(load().refused)
    },
  })

const addConnections = (registry: Registry, poolLoad: MetricsSources['poolLoad']): Gauge =>
  new Gauge({
    name: 'svc_database_connections',
    help: 'Open connections to PostgreSQL, by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const load = poolLoad()
      if (!load) return
      this.set({ state: 'used' }, load.open - load.idle)
      this.set({ state: 'idle' }, load.idle)
    },
  })

/** The deadline is well below the ten seconds after which Prometheus gives up by default. */
const DEADLINE_MS = 2000

/** Probes the database within two seconds, and never rejects; probes at the same time share one query. */
const createDatabaseProbe = ({ requireHealthy, outbox, mail }: MetricsSources) => {
  let probing: Promise<DatabaseState> | undefined

  const probe = async (): Promise<DatabaseState> => {
    try {
      await requireHealthy()
      return { isUp: true, outbox: await outbox(), mail: await mail() }
    } catch {
      return { isUp: false }
    }
  }

  return () => {
    probing ??= withTimeout(DEADLINE_MS, probe(), { isUp: false }).finally(() => {
      probing = undefined
    })
    return probing
  }
}
