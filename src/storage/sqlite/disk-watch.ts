import { unavailable } from '../../lib/errors.ts'

interface DiskWatchDeps {
  /** The disk may take so long for one operation, in milliseconds. */
  timeoutMs: number
  /** It is called when the disk stops answering, and when it answers again. */
  onChange: (isAnswering: boolean, error?: Error) => void
}

export interface DiskWatch {
  /** This tells whether an operation takes longer than it may. */
  readonly isStalled: boolean
  /** Throws `unavailable` while an operation takes longer than it may. */
  requireAnswer(): void
  /** Ends as the work does, or rejects with `unavailable` when that takes too long; the work itself goes on. */
  inTime<T>(work: Promise<T>): Promise<T>
}

const stalled = (): Error => unavailable('The disk does not answer.')

/**
 * Gives operations of the disk a deadline. A disk that stalls keeps its operations for minutes and then completes them:
 * until then requests get an answer, and nothing more is written.
 */
export const createDiskWatch = ({ timeoutMs, onChange }: DiskWatchDeps): DiskWatch => {
  let overdue = 0

  const begin = (error: Error): void => {
    overdue += 1
    if (overdue === 1) onChange(false, error)
  }

  const end = (): void => {
    overdue -= 1
    if (overdue === 0) onChange(true)
  }

  return {
    get isStalled() {
      return overdue > 0
    },
    requireAnswer() {
      if (overdue > 0) throw stalled()
    },
    inTime: (work) =>
      new Promise((resolve, reject) => {
        let hasEnded = false
        const giveUp = (): void => {
          if (hasEnded) return
          const error = stalled()
          begin(error)
          work.then(end, end)
          reject(error)
        }
        // A timer that is late itself says nothing about the disk: the end of the work may be in the same turn.
        const timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
        const settle = (): void => {
          hasEnded = true
          clearTimeout(timer)
        }
        work.then(settle, settle)
        work.then(resolve, reject)
      }),
  }
}
