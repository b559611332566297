// Preloaded into the service (NODE_OPTIONS=--import): its clock is ahead by as many milliseconds as a file says, and by
// those by which this machine's clock is wrong.
import { readFileSync } from 'node:fs'

const now = Date.now
const skewMs = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0)
Date.now = () => now() + skewMs + Number(readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8'))
