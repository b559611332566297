import { once } from 'node:events'
import { createServer } from 'node:net'
import closeWithGrace from 'close-with-grace'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import type { Inspection } from '../config/shown-settings.ts'
import { AppError } from '../lib/errors.ts'
import { flushLog, type Log } from '../lib/log.ts'
import { createService, type Service } from '../service.ts'
import { overviewOf, overviewText } from './overview.ts'

/** Requests that still run after the drain and this time are cut off. */
const STOP_WITHIN_MS = 9500

interface ServeDeps {
  log: Log
  inspection: Inspection
  /** It is set on a terminal: it shows a summary for people in place of the line in the log. */
  greet: ((lines: string) => void) | undefined
}

/** Runs `svc serve` until it is told to stop. */
export const serve = async (configured: Config, { log, greet, inspection }: ServeDeps): Promise<void> => {
  const config = { ...configured, port: configured.port || (await findFreePort(configured)) }
  for (const warning of config.warnings) log.warn(warning)
  const service = await createService({
    config,
    log,
    inspection,
    ...(await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })),
  })
  // The handlers come before the line that it serves: from then on the service may be told to stop.
  const removeHandlers = stopOnSignal(service, config, log)
  const listen = await service.start().catch(async (error: unknown) => {
    removeHandlers()
    await service.stop()
    throw listenError(error, config)
  })
  const overview = overviewOf(config, listen)
  if (greet) greet(overviewText(overview))
  else log.info(overview, 'svc is serving')
  log.flush()
}

/**
 * If `SVC_BASE_URL` is not set, the port is part of the issuer in every token: it must be known before anything starts.
 */
const findFreePort = async (config: Config): Promise<number> => {
  const probe = createServer()
  try {
    await once(probe.listen(0, config.host), 'listening')
  } catch (error) {
    throw listenError(error, config)
  }
  const actual = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof actual === 'object' && actual ? actual.port : 0
}

/** Turns an error of `listen` into one that names the setting to change. */
const listenError = (error: unknown, { host, port }: Config): unknown => {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new AppError('unavailable', `Port ${port} on ${host} is taken: set SVC_PORT to another.`)
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new AppError('unavailable', `Cannot listen on ${host} port ${port} (${code}).`)
  }
  return error
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Ctrl+C reaches every process of a terminal, and npm or a watcher passes it on: it arrives twice within this time. */
const ECHO_MS = 500

/** Stops the service on a signal, or on an error that nothing caught, and exits. Returns how to remove the handlers. */
const stopOnSignal = (service: Service, { drainMs }: Config, log: Log): (() => void) => {
  let first: { signal: NodeJS.Signals; atMs: number } | undefined
  let isStopping = false
  const options = { delay: drainMs + STOP_WITHIN_MS, logger: false as const, skip: [...SIGNALS] }
  const grace = closeWithGrace(options, async ({ err, ...other }) => {
    isStopping = true
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    else log.info({ signal: first?.signal ?? other.signal }, 'stopping')
    await service.stop()
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
