import { AggregatorRegistry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { within } from '../lib/time.ts'
import { createMetricsListener } from './listener.ts'
import { createRegistry, type Snapshot, takeSnapshot } from './registry.ts'

/** A process that counts, as its supervisor sees it. */
interface Member {
  /** Undefined where there is nothing to tell. May take forever. */
  measure: () => Promise<Snapshot | undefined>
  /** Resolves when it is gone. */
  ended: Promise<unknown>
}

interface FleetMetricsDeps {
  version: string
  log: Log
  host: string
  port: number
  /** Those that are alive now. */
  members: () => Iterable<Member>
}

/** A process asks its database for two seconds at most; whoever asks for the metrics waits for ten, mostly. */
const DEADLINE_MS = 4000

/** What several processes tell Prometheus, as one service. */
export const createFleetMetrics = ({ version, log, host, port, members }: FleetMetricsDeps) => {
  const registry = createRegistry({ version, serving: 0 })
  const latest = new Map<Member, Snapshot>()
  let departed: Snapshot = []

  /** What it has counted stays counted: a counter that falls looks to Prometheus like one that began anew. */
  const bury = (member: Member): void => {
    const last = latest.get(member) ?? []
    latest.delete(member)
    departed = sum([departed, last.filter(isCumulative)])
  }

  /** Resolves to whether it has answered. */
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
    // From here on nothing waits: who ends now is counted once, among the living or among the departed.
    const told = [...latest].map(([member, snapshot]) =>
      // Who is too busy to answer has lost nothing of what it had counted.
      isFresh.get(member) ? snapshot : snapshot.filter(isCumulative),
    )
    return AggregatorRegistry.aggregate([...told, own.filter(isOfWholeService), departed]).metrics()
  }

  return createMetricsListener({ log, host, port, contentType: registry.contentType, read })
}

const sum = (snapshots: Snapshot[]): Snapshot =>
  AggregatorRegistry.aggregate(snapshots).getMetricsAsArray() as unknown as Snapshot

const isCumulative = ({ type }: Snapshot[number]): boolean => type === 'counter' || type === 'histogram'

/** Of the supervisor's own, what adds up; its idle event loop says nothing of those that serve. */
const isOfWholeService = ({ name }: Snapshot[number]): boolean => /^(?:svc|process)_/.test(name)
