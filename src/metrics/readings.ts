import { Counter, Gauge, type Registry } from 'prom-client'
import type { Awaitable } from '../lib/awaitable.ts'
import type { QueueLoad } from '../lib/bounded-queue.ts'
import { createDatabaseProbe, type DatabaseHealth, type DatabaseProbe } from './database-health.ts'

/** What the gauges are read from, at each scrape. */
export interface MetricsSources {
  hashQueue: () => QueueLoad
  database: DatabaseHealth
}

interface Description {
  name: string
  help: string
}

/** Adds the metrics whose values are read at each scrape. */
export const addReadings = (registry: Registry, { hashQueue, database }: MetricsSources): void => {
  /** A gauge of one number. Without a number it has no value. */
  const gauge = (description: Description, read: () => Awaitable<number | undefined>) =>
    new Gauge({
      ...description,
      registers: [registry],
      async collect() {
        const value = await read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })

  addHashQueue(registry, gauge, hashQueue)
  // The pool before the database, because the probe itself uses a connection of the pool.
  addPool(registry, gauge, database.poolLoad)
  addDatabase(gauge, createDatabaseProbe(database))
}

type AddGauge = (description: Description, read: () => Awaitable<number | undefined>) => void

const addHashQueue = (registry: Registry, gauge: AddGauge, load: () => QueueLoad): void => {
  gauge({ name: 'svc_password_hashes_running', help: 'Password hashes that run at this moment.' }, () => load().running)
  gauge({ name: 'svc_password_hashes_waiting', help: 'Password hashes that wait for a place.' }, () => load().waiting)
  const refused = new Counter({
    name: 'svc_password_hashes_refused_total',
    help: 'Password hashes that were refused because the queue was full.',
    registers: [],
    collect() {
      this.reset()
      this.inc(load().refused)
    },
  })
  registry.registerMetric(refused)
}

const addPool = (registry: Registry, gauge: AddGauge, poolLoad: DatabaseHealth['poolLoad']): void => {
  const connections = new Gauge({
    name: 'svc_database_connections',
    help: 'Open connections to PostgreSQL, by state.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const load = poolLoad()
      if (!load) return
      this.set({ state: 'used' }, load.open - load.idle)
      this.set({ state: 'idle' }, load.idle)
    },
  })
  registry.registerMetric(connections)
  const waiting = { name: 'svc_database_operations_waiting', help: 'Operations that wait for a connection.' }
  gauge(waiting, () => poolLoad()?.waiting)
}

const addDatabase = (gauge: AddGauge, probe: DatabaseProbe): void => {
  gauge(
    {
      name: 'svc_database_up',
      help: 'Whether the database can be read and written: 1 or 0. Without an answer in time, 0.',
    },
    async () => ((await probe()).isUp ? 1 : 0),
  )
  addOutbox(gauge, async () => (await probe()).outbox, {
    open: {
      name: 'svc_webhook_events_open',
      help: 'Webhook events that are neither delivered nor given up. Counted up to 10,000.',
    },
    due: {
      name: 'svc_webhook_oldest_due_seconds',
      help: 'How long the oldest due webhook event has been due; 0 if none is due.',
    },
  })
  addOutbox(gauge, async () => (await probe()).mail, {
    open: {
      name: 'svc_mail_messages_open',
      help: 'Messages that are neither sent nor given up. Counted up to 10,000.',
    },
    due: {
      name: 'svc_mail_oldest_due_seconds',
      help: 'How long the oldest due message has been due; 0 if none is due.',
    },
  })
}

type Load = NonNullable<Awaited<ReturnType<DatabaseProbe>>['outbox']>

const addOutbox = (
  gauge: AddGauge,
  read: () => Promise<Load | undefined>,
  { open, due }: Record<'open' | 'due', Description>,
): void => {
  gauge(open, async () => (await read())?.open)
  gauge(due, async () => {
    const load = await read()
    return load && load.overdueMs / 1000
  })
}
