const BAR_CELLS = 20
const REDRAW_MS = 100
const LINE_EVERY_MS = 10_000

interface ProgressDeps {
  /** Writes over one line again and again, instead of a line now and then. */
  isTerminal: boolean
  /** Characters in a line of the terminal; undefined: no limit. */
  width: number | undefined
  write: (text: string) => void
  /** Milliseconds from any beginning. */
  now: () => number
}

interface Step {
  title: string
  beganAtMs: number
  /** What was done when it began. */
  before: number
  shownAtMs: number
}

/** Shows how far a long piece of work is, step by step: rows, rate and time left. */
export const createProgress = ({ isTerminal, width = Number.POSITIVE_INFINITY, write, now }: ProgressDeps) => {
  let step: Step | undefined

  const draw = (text: string): void => write(isTerminal ? `\r\x1b[2K${text.slice(0, width - 1)}` : `svc: ${text}\n`)

  return {
    /** To be called whenever `done` (of `total`) has changed; another title begins another step. */
    show(title: string, done: number, total: number): void {
      if (total === 0) return
      const nowMs = now()
      if (step?.title !== title) {
        step = { title, beganAtMs: nowMs, before: done, shownAtMs: isTerminal ? -Infinity : nowMs }
      }
      const isOver = done >= total
      if (!isOver && nowMs - step.shownAtMs < (isTerminal ? REDRAW_MS : LINE_EVERY_MS)) return
      step.shownAtMs = nowMs
      const bar = isTerminal ? `${barOf(done / total)}  ` : ''
      draw(`${title}  ${bar}${shareOf(done, total)}  ${paceOf(step, done, total, nowMs)}`)
      if (isOver && isTerminal) write('\n')
    },

    /** Leaves the line that is being written over. */
    stop(): void {
      if (isTerminal && step) write('\n')
    },
  }
}

const barOf = (share: number): string => {
  const full = Math.min(BAR_CELLS, Math.floor(share * BAR_CELLS))
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full)
}

const shareOf = (done: number, total: number): string =>
  `${String(Math.min(100, Math.floor((done / total) * 100))).padStart(3)} %  ${grouped(done)} of ${grouped(total)} rows`

const paceOf = ({ beganAtMs, before }: Step, done: number, total: number, nowMs: number): string => {
  const seconds = (nowMs - beganAtMs) / 1000
  const rate = (done - before) / seconds
  if (done >= total) return `in ${spanOf(seconds)}`
  return rate > 0 && Number.isFinite(rate) ? `${grouped(rate)}/s  ${spanOf((total - done) / rate)} left` : ''
}

const grouped = (count: number): string => Math.round(count).toLocaleString('en')

const spanOf = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
