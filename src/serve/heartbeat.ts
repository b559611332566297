import { SERVICE_PATIENCE_MS } from '../bootstrap.ts'

// Patience is counted in looks after a worker, not by the clock: a machine that was suspended wakes to one look.
export const LOOK_EVERY_MS = 5000
/** With each look goes a ping; so many without a word, and it is stuck: after 15 to 20 s. */
const UNANSWERED_PINGS = 3
/** As long as a start may wait for the database, and a minute for what comes before and after. */
const LOOKS_BEFORE_SERVING = (SERVICE_PATIENCE_MS + 60_000) / LOOK_EVERY_MS

interface Parts {
  lookEveryMs: number
  ping: () => void
  /** Called once, with what it does in place of its work. */
  giveUp: (what: string) => void
}

/** Looks after a worker that may be stuck: first whether it comes to serve, then whether it answers. */
export const watchWorker = ({ lookEveryMs, ping, giveUp }: Parts) => {
  let isServing = false
  let looksInSilence = 0

  const look = (): void => {
    looksInSilence += 1
    if (looksInSilence > (isServing ? UNANSWERED_PINGS : LOOKS_BEFORE_SERVING)) {
      clearInterval(looks)
      giveUp(isServing ? 'does not answer' : 'does not begin to serve')
    } else if (isServing) ping()
  }

  const looks = setInterval(look, lookEveryMs).unref()

  return {
    /** It has said something. */
    heard(): void {
      looksInSilence = 0
    },
    /** From now on it is to answer. Before, a migration of a file might keep it from that. */
    serves(): void {
      isServing = true
    },
    end: (): void => clearInterval(looks),
  }
}
