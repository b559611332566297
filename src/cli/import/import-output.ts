import { printNotice } from '../terminal/output.ts'
import { safeText } from '../terminal/safe-text.ts'
import { createTerminalProgress } from '../terminal/progress.ts'

/** What an operator sees while an import runs. */
export interface ImportOutput {
  showProblem(number: number, problem: string): void
  showBytes(done: number, total: number | undefined): void
  showChecked(done: number, total: number): void
  showImported(done: number, total: number): void
  /** Hashing is what makes an import slow. */
  warnOfPasswords(count: number): void
  sayInterrupted(): void
  /** Ends the line that is redrawn. */
  end(): void
}

/** About what a hash takes on one core, in seconds. */
const HASH_SECONDS = 0.01

/** @param unit What the numbers of the problems count. */
export const createImportOutput = (unit: 'line' | 'user'): ImportOutput => {
  const progress = createTerminalProgress()
  const notice = (text: string): void => {
    progress.clear()
    printNotice(text)
  }
  let shownBytes = 0
  return {
    showProblem: (number, problem) => notice(`${unit} ${number}: ${safeText(problem)}`),
    showBytes(done, total = 0) {
      if (done === shownBytes) return
      shownBytes = done
      progress.show('read  ', done, total, 'bytes')
    },
    showChecked: (done, total) => progress.show('check ', done, total, 'users'),
    showImported: (done, total) => progress.show('import', done, total, 'users'),
    warnOfPasswords(count) {
      const minutes = Math.ceil((count * HASH_SECONDS) / 60)
      notice(
        `${count === 1 ? '1 user has' : `${count} users have`} a plain password. Hashing takes about ${HASH_SECONDS * 1000} ms of a core for each, ` +
          `${minutes === 1 ? 'a minute' : `${minutes} minutes`} at most in all. Hashes are imported as they are, at once.`,
      )
    },
    sayInterrupted: () => notice('interrupted; run the same command again, which adds the users who are missing'),
    end: () => progress.stop(),
  }
}
