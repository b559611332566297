import { AggregatorRegistry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { within } from '../lib/time.ts'
import { createMetricsListener } from './listener.ts'
import { createRegistry, type Snapshot, takeSnapshot } from './registry.ts'

/** A worker process, as its supervisor sees it. */
interface Member {
  /** Resolves to the metrics, or to undefined without any. May never settle. */
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

/** A worker waits two seconds at most for its database; Prometheus usually waits ten for the metrics. */
const DEADLINE_MS = 4000

/** Serves the metrics of several processes to Prometheus as those of one service. */
export const createFleetMetrics = ({ version, log, host, port, members }: FleetMetricsDeps) => {
  const registry = createRegistry({ version, serving: 0 })
  const latest = new Map<Member, Snapshot>()
  let departed: Snapshot = []

  /** Keeps the counts of a process that has ended: Prometheus would treat a counter that falls as restarted. */
  const bury = (member: Member): void => {
    const last = latest.get(member) ?? []
    latest.delete(member)
    departed = sum([departed, last.filter(isCumulative)])
  }

  /** Resolves to whether the process has answered. */
  const ask = async (member: Member): Promise<boolean> => {
    const told = await within(DEADLINE_MS, member.measure(), undefined)
    if (!told) return false
    if (!latest.has(member)) void member.ended.then(() => bury(member))
    latest.set(member, told)
    return true
  }

  const read = async (): Promise<string> => {
    const own = await takeSnapshot(registry)
    const asked = [...members()]
    const answered = await Promise.all(asked.map(ask))
    const isFresh = new Map(asked.map((member, index) => [member, answered[index]]))
    // No await from here on: a process that ends now is counted once, either as alive or as ended.
    const told = [...latest].map(([member, snapshot]) =>
      // A process that is too busy to answer keeps its last counts.
      isFresh.get(member) ? snapshot : snapshot.filter(isCumulative),
    )
    return AggregatorRegistry.aggregate([...told, own.filter(isOfWholeService), departed]).metrics()
  }

  return createMetricsListener({ log, host, port, contentType: registry.contentType, read })
}

const sum = (snapshots: Snapshot[]): Snapshot =>
  AggregatorRegistry.aggregate(snapshots).getMetricsAsArray() as unknown as Snapshot

const isCumulative = ({ type }: Snapshot[number]): boolean => type === 'counter' || type === 'histogram'

/** The supervisor's own metrics that can be added; its idle event loop says nothing about the workers. */
const isOfWholeService = ({ name }: Snapshot[number]): boolean => /^(?:svc|process)_/.test(name)
