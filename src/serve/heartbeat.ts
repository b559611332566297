import { SERVICE_PATIENCE_MS } from '../bootstrap.ts'

// Patience is counted in looks after a worker, not by the clock: a machine that was suspended wakes to one look.
export const PING_EVERY_MS = 5000
/** With each look goes a ping; so many without a word, and it is stuck: after 15 to 20 s. */
const UNANSWERED_PINGS = 3
/** As long as a start may wait for the database, and a minute for what comes before and after. */
const PINGS_BEFORE_SERVING = (SERVICE_PATIENCE_MS + 60_000) / PING_EVERY_MS

interface HeartbeatDeps {
  pingEveryMs: number
  ping: () => void
  /** Called once, with what it does in place of its work. */
  giveUp: (what: string) => void
}

/** Looks after a worker that may be stuck: first whether it comes to serve, then whether it answers. */
export const watchWorker = ({ pingEveryMs, ping, giveUp }: HeartbeatDeps) => {
  let isServing = false
  let pingsInSilence = 0

  const look = (): void => {
    pingsInSilence += 1
    if (pingsInSilence > (isServing ? UNANSWERED_PINGS : PINGS_BEFORE_SERVING)) {
      clearInterval(looks)
      giveUp(isServing ? 'does not answer' : 'does not begin to serve')
    } else if (isServing) ping()
  }

  const looks = setInterval(look, pingEveryMs).unref()

  return {
    /** It has said something. */
    heard(): void {
      pingsInSilence = 0
    },
    /** From now on it is to answer. Before, a migration of a file might keep it from that. */
    serves(): void {
      isServing = true
    },
    end: (): void => clearInterval(looks),
  }
}
