// Preloaded into the service (NODE_OPTIONS=--import): a file contains how many milliseconds its clocks are ahead.
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
