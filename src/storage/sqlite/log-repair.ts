import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../lib/errors.ts'
import type { SideThread } from '../../lib/side-thread.ts'
import type { OpenFiles } from './open-files.ts'

const TASK = new URL('./log-repair-task.js', import.meta.url)

const RETRY_EVERY_MS = 500

interface LogRepairDeps {
  /** The database file. */
  file: string
  files: OpenFiles
  sideThread: SideThread
  /** Called when a sync has failed, and when the log is on disk again. */
  onChange: (isTrusted: boolean, error?: Error) => void
  /** Called when the kernel has dropped pages of the log. */
  onLoss: (error: Error) => void
}

export interface LogRepair {
  /** Whether all that was synced is on disk. */
  readonly isTrusted: boolean
  /** Throws `unavailable` after a failed sync until the log is on disk again. */
  requireTrusted(): void
  /** Call it when a sync has failed; returns what to answer. */
  begin(failure: Error): Error
  stop(): void
}

/**
 * Brings the log to disk after a failed sync. The kernel reports the failure once, counts the pages that it could not
 * write as written, and may drop them, so that the next sync would succeed without them. So the log is read, checked
 * against its checksums, and written again before a sync counts. No commit is made in the meantime.
 */
export const createLogRepair = ({ file, files, sideThread, onChange, onLoss }: LogRepairDeps): LogRepair => {
  const stopping = new AbortController()
  let failure: Error | undefined

  const attempt = async (): Promise<boolean> => {
    try {
      files.requireInPlace()
      const { lostPages } = await sideThread.run<{ lostPages: number }>(TASK, { file })
      if (lostPages > 0) onLoss(new Error(`${lostPages} pages of changes that were answered with 503 are lost`))
      return true
    } catch {
      // The failure itself was reported when it began.
      return false
    }
  }

  const repair = async (): Promise<void> => {
    while (!stopping.signal.aborted && !(await attempt())) await sleep(RETRY_EVERY_MS, undefined, { ref: false })
    if (stopping.signal.aborted) return
    failure = undefined
    onChange(true)
  }

  return {
    get isTrusted() {
      return failure === undefined
    },
    requireTrusted() {
      if (failure) throw failure
    },
    begin(cause) {
      if (failure) return failure
      const begun = unavailable('The disk does not take writes.', cause)
      failure = begun
      onChange(false, begun)
      void repair()
      return begun
    },
    stop: () => stopping.abort(),
  }
}
