import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../lib/errors.ts'

const ASK_AGAIN_MS = 250

interface WatchDeps {
  /** Rejects while the database does not answer. */
  ask: () => Promise<void>
  onDown: (error: Error) => void
  onUp: () => void
}

/**
 * Knows whether the database answers. Once somebody had no answer, one who asks finds out for all; while there is none,
 * everybody else is told so at once instead of waiting for nothing. Keeps no process alive that has nothing else to do.
 */
export const createWatch = ({ ask, onDown, onUp }: WatchDeps) => {
  let down: Error | undefined
  let asking = false
  const stop = new AbortController()

  const askOnce = async (): Promise<boolean> => {
    try {
      await ask()
      return true
    } catch (error) {
      const wasUp = down === undefined
      down = error instanceof Error ? error : new Error(String(error))
      if (wasUp) onDown(down)
      return false
    }
  }

  const askUntilUp = async (): Promise<void> => {
    while (!stop.signal.aborted && !(await askOnce())) await sleep(ASK_AGAIN_MS, undefined, { ref: false })
    asking = false
    if (down && !stop.signal.aborted) onUp()
    down = undefined
  }

  return {
    requireUp(): void {
      // Without the cause: whoever saw it has told the log, and there may be many of us.
      if (down) throw unavailable('The database cannot be reached.')
    },
    /** To be called by whoever had no answer. */
    suspect(): void {
      if (asking || stop.signal.aborted) return
      asking = true
      void askUntilUp()
    },
    stop: (): void => stop.abort(),
  }
}
