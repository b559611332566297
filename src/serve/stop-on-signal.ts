import closeWithGrace from 'close-with-grace'
import { flushLog, type Log } from '../lib/log.ts'

/** Ctrl+C reaches every process of a terminal, and npm or a watcher passes it on: it arrives twice within this time. */
const ECHO_MS = 500

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

interface StopDeps {
  log: Log
  /** After this time the process exits, whatever is still running. */
  delayMs: number
  stop: () => Promise<unknown>
  /** Called before an exit at once: on a second signal, a second error, or after the delay. */
  kill?: (() => void) | undefined
}

/** Stops the service on a signal, or on an error that nothing caught, and exits. Returns how to remove the handlers. */
export const stopOnSignal = ({ log, delayMs, stop, kill = () => {} }: StopDeps): (() => void) => {
  let first: { signal: NodeJS.Signals; atMs: number } | undefined
  let isStopping = false
  const killNow = { onSecondSignal: kill, onSecondError: kill, onTimeout: kill }
  const grace = closeWithGrace(
    { delay: delayMs, logger: false, skip: [...SIGNALS], ...killNow },
    async ({ err, ...other }) => {
      isStopping = true
      if (err) log.error({ err }, 'stopping after an error that nobody expected')
      else log.info({ signal: first?.signal ?? other.signal }, 'stopping')
      await stop()
      log.info('stopped')
      await flushLog(log)
    },
  )

  const onSignal = (signal: NodeJS.Signals): void => {
    const atMs = performance.now()
    if (first?.signal === 'SIGINT' && atMs - first.atMs < ECHO_MS) return
    if (isStopping) {
      kill()
      process.exit(1)
    }
    first = { signal, atMs }
    grace.close()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)

  return () => {
    grace.uninstall()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
