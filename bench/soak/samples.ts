import { readdirSync } from 'node:fs'
import type { Child } from '../support/child.ts'
import { percentile, spread } from '../support/statistics.ts'
import type { Kind } from './visits.ts'

/** Of a database and its write-ahead log. */
export interface Sizes {
  walMb: number
  databaseMb: number
}

/** What was measured in one stretch of a soak, and right after it, when its connections were closed. */
export interface Sample extends Sizes {
  requests: number
  seconds: number
  residentMb: number
  descriptors: number
  /** For each kind, milliseconds. */
  p50: Record<Kind, number>
  p99: Record<Kind, number>
}

/** Linux alone lists the open files of a process. */
const countDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

export const takeSample = (
  { pid, residentMb }: Child,
  sizes: Sizes,
  { latencies, seconds }: { latencies: Record<Kind, number[]>; seconds: number },
): Sample => {
  const percentiles = (share: number): Record<Kind, number> => ({
    'GET /user': percentile(latencies['GET /user'], share),
    refresh: percentile(latencies.refresh, share),
    login: percentile(latencies.login, share),
    others: percentile(latencies.others, share),
  })
  return {
    seconds,
    requests: Object.values(latencies).reduce((sum, { length }) => sum + length, 0),
    residentMb: residentMb(),
    descriptors: countDescriptors(pid),
    ...sizes,
    p50: percentiles(0.5),
    p99: percentiles(0.99),
  }
}

const PARTS = 10

/** Ten parts of the run, fewer if there were fewer samples. */
const divide = (samples: readonly Sample[]): Sample[][] => {
  const parts = Math.min(PARTS, samples.length)
  const at = (part: number): number => Math.round((part * samples.length) / parts)
  return Array.from({ length: parts }, (_, part) => samples.slice(at(part), at(part + 1)))
}

const formatTime = (seconds: number): string => {
  const minutes = Math.floor(seconds / 60)
  return minutes < 1 ? `${Math.round(seconds)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const HEADER = [
  'until',
  'requests',
  'memory',
  'descriptors',
  'write-ahead log',
  'database',
  'GET /user p50, p99',
  'refresh p99',
  'login p50, p99',
]

/** A line for each tenth of the run: sums of requests, and medians of what was sampled. */
export const toTable = (samples: readonly Sample[]): { header: string[]; lines: string[][] } => {
  let seconds = 0
  const lines = divide(samples).map((part) => {
    const median = (figure: (sample: Sample) => number): number =>
      spread(part.map(figure).filter(Number.isFinite)).median
    const ms = (figure: (sample: Sample) => number): string => median(figure).toFixed(1)
    const mb = (figure: (sample: Sample) => number): string => `${median(figure).toFixed(1)} MB`
    seconds += part.reduce((sum, sample) => sum + sample.seconds, 0)
    return [
      formatTime(seconds),
      part.reduce((sum, { requests }) => sum + requests, 0).toLocaleString('en'),
      mb(({ residentMb }) => residentMb),
      String(Math.round(median(({ descriptors }) => descriptors))),
      mb(({ walMb }) => walMb),
      mb(({ databaseMb }) => databaseMb),
      `${ms(({ p50 }) => p50['GET /user'])}, ${ms(({ p99 }) => p99['GET /user'])} ms`,
      `${ms(({ p99 }) => p99.refresh)} ms`,
      `${ms(({ p50 }) => p50.login)}, ${ms(({ p99 }) => p99.login)} ms`,
    ]
  })
  return { header: HEADER, lines }
}

/** How much the last quarter of the run has more than the second: 1 where nothing has grown. */
export const growth = (samples: readonly Sample[], figure: (sample: Sample) => number): number => {
  const quarter = (part: number): Sample[] =>
    samples.slice(Math.floor((part * samples.length) / 4), Math.floor(((part + 1) * samples.length) / 4))
  const [early, late] = [quarter(1), quarter(3)].map((part) => spread(part.map(figure)).median)
  return (late ?? Number.NaN) / (early ?? Number.NaN)
}
