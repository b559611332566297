const BAR_CELLS = 20
const REDRAW_MS = 100
const LINE_EVERY_MS = 10_000

interface ProgressDeps {
  /** On a terminal, one line is redrawn. Elsewhere a new line is written every ten seconds. */
  isTerminal: boolean
  /** Characters in a line of the terminal; undefined for no limit. */
  width: number | undefined
  write: (text: string) => void
  /** It reads a clock that never goes back, in milliseconds. */
  now: () => number
}

interface Step {
  title: string
  startedAtMs: number
  /** So many rows were already done when the step began. */
  doneBefore: number
  shownAtMs: number
}

/** Shows how far a long operation with several steps is: rows or the like, rate and time left. */
export interface Progress {
  /** Call it whenever `done` has changed. A new title begins a new step. */
  show(title: string, done: number, total: number, unit?: string): void
  /** Makes room for other output in the place of the line that is redrawn. */
  clear(): void
  /** Ends the line that is redrawn, so that other output begins on a new line. */
  stop(): void
}

export const createProgress = ({
  isTerminal,
  width = Number.POSITIVE_INFINITY,
  write,
  now,
}: ProgressDeps): Progress => {
  let step: Step | undefined
  /** It is true while the cursor is at the end of a line that is redrawn. */
  let isOpen = false

  const draw = (text: string): void => write(isTerminal ? `\r\x1b[2K${text.slice(0, width - 1)}` : `svc: ${text}\n`)

  return {
    show(title, done, total, unit = 'rows') {
      if (total === 0) return
      const nowMs = now()
      if (step?.title !== title) {
        step = { title, startedAtMs: nowMs, doneBefore: done, shownAtMs: isTerminal ? -Infinity : nowMs }
      }
      const isDone = done >= total
      if (!isDone && nowMs - step.shownAtMs < (isTerminal ? REDRAW_MS : LINE_EVERY_MS)) return
      step.shownAtMs = nowMs
      const bar = isTerminal ? `${barText(done / total)}  ` : ''
      draw(`${title}  ${bar}${shareText(done, total, unit)}  ${rateText(step, done, total, nowMs)}`)
      isOpen = isTerminal && !isDone
      if (isDone && isTerminal) write('\n')
    },
    clear() {
      if (isOpen) write('\r\x1b[2K')
    },
    stop() {
      if (isOpen) write('\n')
    },
  }
}

/** Shows progress on stderr, because stdout is for results. */
export const createTerminalProgress = (): Progress =>
  createProgress({
    isTerminal: process.stderr.isTTY,
    width: process.stderr.columns || undefined,
    write: (text) => process.stderr.write(text),
    now: () => performance.now(),
  })

const barText = (share: number): string => {
  const full = Math.min(BAR_CELLS, Math.floor(share * BAR_CELLS))
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full)
}

const shareText = (done: number, total: number, unit: string): string =>
  `${String(Math.min(100, Math.floor((done / total) * 100))).padStart(3)} %  ${withCommas(done)} of ${withCommas(total)} ${unit}`

const rateText = ({ startedAtMs, doneBefore }: Step, done: number, total: number, nowMs: number): string => {
  const seconds = (nowMs - startedAtMs) / 1000
  const rate = (done - doneBefore) / seconds
  if (done >= total) return `in ${durationText(seconds)}`
  return rate > 0 && Number.isFinite(rate) ? `${withCommas(rate)}/s  ${durationText((total - done) / rate)} left` : ''
}

const withCommas = (count: number): string => Math.round(count).toLocaleString('en')

const durationText = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
