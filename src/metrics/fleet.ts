import { AggregatorRegistry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { withTimeout } from '../lib/time.ts'
import { createMetricsListener, type MetricsListener } from './listener.ts'
import { createRegistry, type Snapshot, takeSnapshot } from './registry.ts'

/** A process whose metrics are combined with those of others. */
interface Member {
  /** Undefined when it has none. Never resolves for a process that is stuck. */
  measure: () => Promise<Snapshot | undefined>
  /** Resolves when the process has ended. */
  ended: Promise<unknown>
}

interface FleetMetricsDeps {
  version: string
  log: Log
  host: string
  port: number
  /** The processes that are alive. */
  members: () => Iterable<Member>
}

/** Above the two seconds that a process may wait for its database, and below the ten seconds of Prometheus. */
const DEADLINE_MS = 4000

/** Serves the metrics of several processes as those of one service. */
export const createFleetMetrics = (deps: FleetMetricsDeps): MetricsListener => {
  const { version, log, host, port, members } = deps
  const registry = createRegistry({ version, serving: 0 })
  const latest = new Map<Member, Snapshot>()
  /**
   * The counters of processes that have ended. Without them a counter would fall, which Prometheus takes for a restart.
   */
  let ended: Snapshot = []

  const moveToEnded = (member: Member): void => {
    const last = latest.get(member) ?? []
    latest.delete(member)
    ended = sum([ended, last.filter(isCumulative)])
  }

  /** Updates the latest snapshot of one process. Resolves to whether it answered in time. */
  const update = async (member: Member): Promise<boolean> => {
    const snapshot = await withTimeout(DEADLINE_MS, member.measure(), undefined)
    if (!snapshot) return false
    if (!latest.has(member)) void member.ended.then(() => moveToEnded(member))
    latest.set(member, snapshot)
    return true
  }

  const read = async (): Promise<string> => {
    const own = await takeSnapshot(registry)
    const current = [...members()]
    const answered = await Promise.all(current.map(update))
    const isFresh = new Map(current.map((member, index) => [member, answered[index]]))
    // No `await` from here on: a process that ends now must be counted once, in `latest` or in `ended`.
    const snapshots = [...latest].map(([member, snapshot]) =>
      // A process that did not answer keeps its counters. Its gauges would be out of date.
      isFresh.get(member) ? snapshot : snapshot.filter(isCumulative),
    )
    return AggregatorRegistry.aggregate([...snapshots, own.filter(isOfWholeService), ended]).metrics()
  }

  return createMetricsListener({ log, host, port, contentType: registry.contentType, read })
}

const sum = (snapshots: Snapshot[]): Snapshot =>
  AggregatorRegistry.aggregate(snapshots).getMetricsAsArray() as unknown as Snapshot

const isCumulative = ({ type }: Snapshot[number]): boolean => type === 'counter' || type === 'histogram'

/** The supervisor's own metrics that add up. Its event loop is idle and says nothing about the workers. */
const isOfWholeService = ({ name }: Snapshot[number]): boolean => /^(?:svc|process)_/.test(name)
