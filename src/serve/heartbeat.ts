import { SERVICE_PATIENCE_MS } from '../bootstrap.ts'

// Time limits are counted in pings and not by the clock: after a suspended machine wakes up, only one ping is due.
export const PING_EVERY_MS = 5000
/** A worker that leaves this many pings unanswered is stuck: after 15 to 20 seconds. */
const MAX_UNANSWERED_PINGS = 3
/** As long as a start may wait for the database, and a minute for everything else. */
const MAX_INTERVALS_BEFORE_SERVING = (SERVICE_PATIENCE_MS + 60_000) / PING_EVERY_MS

interface HeartbeatDeps {
  pingEveryMs: number
  ping: () => void
  /** Called once, with what is wrong, such as "does not answer". */
  onStuck: (problem: string) => void
}

export interface Heartbeat {
  /** To be called for every message from the worker. */
  messageReceived(): void
  /** Starts the pings. A worker that does not serve yet is not pinged: a migration may block its event loop. */
  servingBegan(): void
  stop(): void
}

/** Watches one worker: first whether it begins to serve, then whether it answers pings. */
export const startHeartbeat = ({ pingEveryMs, ping, onStuck }: HeartbeatDeps): Heartbeat => {
  let isServing = false
  let silentIntervals = 0

  const check = (): void => {
    silentIntervals += 1
    if (silentIntervals > (isServing ? MAX_UNANSWERED_PINGS : MAX_INTERVALS_BEFORE_SERVING)) {
      clearInterval(timer)
      onStuck(isServing ? 'does not answer' : 'does not begin to serve')
    } else if (isServing) ping()
  }

  const timer = setInterval(check, pingEveryMs).unref()

  return {
    messageReceived(): void {
      silentIntervals = 0
    },
    servingBegan(): void {
      isServing = true
    },
    stop: (): void => clearInterval(timer),
  }
}
