// Preloaded into the service (NODE_OPTIONS=--import): its clock is ahead by as many milliseconds as a file says.
import { readFileSync } from 'node:fs'

const now = Date.now
Date.now = () => now() + Number(readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8'))
