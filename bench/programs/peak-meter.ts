// Preloaded into a command: says on stderr, as its last words, how much memory it has held at most.
import { readFileSync, writeSync } from 'node:fs'

const STDERR = 2

// On Linux the greatest size of `getrusage` is inherited from whoever started the command.
const peakKib = (): number =>
  process.platform === 'linux'
    ? Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
    : process.resourceUsage().maxRSS

process.once('exit', () => {
  writeSync(STDERR, `\npeak ${peakKib()} KiB\n`)
})
