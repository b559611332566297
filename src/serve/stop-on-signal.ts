import closeWithGrace from 'close-with-grace'
import { flushLog, type Log } from '../lib/log.ts'

export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Ctrl+C reaches every process of a terminal, and npm or a watcher passes it on: it arrives twice within this time. */
const ECHO_MS = 500

interface Stopping {
  stop: () => Promise<void>
  /** The process exits after this time, whatever still runs. */
  withinMs: number
  log: Log
}

/** Stops on a signal, or on an error that nothing caught, and exits. Returns how to remove the handlers. */
export const stopOnSignal = ({ stop, withinMs, log }: Stopping): (() => void) => {
  let first: { signal: NodeJS.Signals; atMs: number } | undefined
  let isStopping = false
  const options = { delay: withinMs, logger: false as const, skip: [...SIGNALS] }
  const grace = closeWithGrace(options, async ({ err, ...other }) => {
    isStopping = true
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    else log.info({ signal: first?.signal ?? other.signal }, 'stopping')
    await stop()
    log.info('stopped')
    await flushLog(log)
  })

  const onSignal = (signal: NodeJS.Signals): void => {
    const atMs = performance.now()
    if (first?.signal === 'SIGINT' && atMs - first.atMs < ECHO_MS) return
    if (isStopping) process.exit(1)
    first = { signal, atMs }
    grace.close()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)

  return () => {
    grace.uninstall()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
