// Preloaded into the service (NODE_OPTIONS=--import): its clocks are ahead by as many milliseconds as a file says, and the
// wall clock also by those by which this machine's is wrong.
import { readFileSync } from 'node:fs'

/** `wall monotonic`, in milliseconds. */
const ahead = (): number[] =>
  readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8')
    .split(' ')
    .map(Number)

const skewMs = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0)
const wallNow = Date.now
Date.now = () => wallNow() + skewMs + (ahead()[0] ?? 0)

const monotonicNow = performance.now.bind(performance)
performance.now = () => monotonicNow() + (ahead()[1] ?? 0)
