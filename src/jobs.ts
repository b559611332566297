// What a serving process does by itself, beside requests: a table of what it deletes, and when.
import type { Idempotency } from './api-keys/idempotency.ts'
import type { Config } from './config/config.ts'
import type { Core } from './core.ts'
import type { Log } from './lib/log.ts'
import { randomToken } from './lib/secrets.ts'
import type { Clock } from './lib/time.ts'
import { deleteEndedCounters, deleteExcessCounters } from './limits/counter-store.ts'
import type { Metrics } from './metrics/metrics.ts'
import { type Cleanup, createCleanup, createCleanupTime, type Job, type Reservation } from './storage/cleanup.ts'
import { takeLease } from './storage/leases.ts'
import { deleteExpiredTokens } from './storage/used-tokens.ts'

/** The parts of a service share this while it runs. */
export interface Serving {
  idempotency: Idempotency
  config: Config
  log: Log
  core: Core
  metrics: Metrics | undefined
}

/** Sockets of applications outlive tokens: verifiers learn of the end of a session within five minutes. */
const EXPIRY_EVERY_MS = 120_000

/** Cleans up everything that is past its time: a row for each job, whose name stands in metrics, logs and leases. */
export const createJobs = ({ config, log, core, metrics, idempotency }: Serving): Cleanup => {
  const { db, clock, audit, sessions, webhooks, oauth, signingKeys, mail, links } = core
  const jobs: Job[] = [
    { name: 'replaced sessions', run: sessions.deleteReplaced },
    { name: 'webhook events', run: webhooks.deleteExpired },
    { name: 'provider sign-ins', run: oauth.deleteExpired },
    { name: 'signing keys', run: signingKeys.deleteRetired },
    { name: 'pending signups', run: links.pendingSignups.deleteExpired },
    { name: 'links', run: links.issued.deleteExpired },
    { name: 'mail', run: mail.deleteExpired },
    { name: 'reserved emails', run: links.emailChanges.deleteEndedReservations },
    { name: 'idempotent requests', run: idempotency.deleteExpired },
    { name: 'revocations', run: async (nowMs) => (await core.loadRevocationFeed()).deleteExpired(nowMs) },
    { name: 'used tokens', run: (nowMs) => deleteExpiredTokens(db, nowMs) },
    ...(config.clients
      ? [{ name: 'clients', run: async (nowMs: number) => (await core.loadClients()).deleteExpired(nowMs) }]
      : []),
    { name: 'audit events', run: audit.deleteOld },
    { name: 'records of deleted users', run: audit.eraseDeleted },
    {
      name: 'counters',
      run: async (nowMs) => (await deleteEndedCounters(db, nowMs)) + (await deleteExcessCounters(db)),
    },
  ]
  const shared = {
    log,
    findTime: createCleanupTime({ db, clock, log }),
    reserve: createReservation(db, clock),
    ...(metrics && { onDeleted: metrics.countDeleted }),
  }
  const { cleanupIntervalMs: intervalMs } = config
  const cleanups = [
    createCleanup({ ...shared, jobs: expiryJobs(core, config), intervalMs: Math.min(intervalMs, EXPIRY_EVERY_MS) }),
    createCleanup({ ...shared, jobs, intervalMs }),
  ]
  return {
    start: () => cleanups.forEach((cleanup) => cleanup.start()),
    stop: async () => void (await Promise.all(cleanups.map((cleanup) => cleanup.stop()))),
  }
}

const expiryJobs = ({ sessions, loadClients }: Core, { clients }: Config): Job[] => [
  { name: 'sessions', run: sessions.endExpired },
  ...(clients ? [{ name: 'grants', run: async (nowMs: number) => (await loadClients()).endExpiredGrants(nowMs) }] : []),
]

/** New users come into the index of a search so often. Until then, their rows are looked through. */
const INDEX_EVERY_MS = 60_000

/** PostgreSQL fills its indexes itself. Several processes may fill that of a file: each step is a transaction. */
export const createUpkeep = ({ log, core }: Serving, isStopping: () => boolean): Cleanup => {
  const run = async (): Promise<number> => {
    await (await core.loadUserIndex()).keepUp(isStopping)
    return 0
  }
  return createCleanup({
    log,
    jobs: core.db.dialect === 'sqlite' ? [{ name: 'user index', run }] : [],
    intervalMs: INDEX_EVERY_MS,
    findTime: async () => core.clock.now(),
    reserve: async () => true,
  })
}

/** Reserves jobs for this process, under a name that no other process has. */
const createReservation = (db: Core['db'], clock: Clock) => {
  const holder = randomToken(9)
  return (lease: Reservation): Promise<boolean> => takeLease(db, { ...lease, holder, nowMs: clock.now() })
}
