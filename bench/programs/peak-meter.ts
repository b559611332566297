// Preloaded into a command: writes the command's peak memory to stderr when the command exits.
import { readFileSync, writeSync } from 'node:fs'

const STDERR = 2

// On Linux, the peak of `getrusage` is inherited from the parent process.
const peakKib = (): number =>
  process.platform === 'linux'
    ? Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
    : process.resourceUsage().maxRSS

process.once('exit', () => {
  writeSync(STDERR, `\npeak ${peakKib()} KiB\n`)
})
