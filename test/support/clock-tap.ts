// Preloaded into the service (NODE_OPTIONS=--import): its clocks are ahead by as many milliseconds as a file says.
import { readFileSync } from 'node:fs'

/** `wall monotonic`, in milliseconds. */
const ahead = (): number[] =>
  readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8')
    .split(' ')
    .map(Number)

const wallNow = Date.now
Date.now = () => wallNow() + (ahead()[0] ?? 0)

const monotonicNow = performance.now.bind(performance)
performance.now = () => monotonicNow() + (ahead()[1] ?? 0)
