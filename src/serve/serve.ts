import { once } from 'node:events'
import { createServer } from 'node:net'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import type { Inspection } from '../config/shown-settings.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createService } from '../service.ts'
import { overviewOf, overviewText } from './overview.ts'
import { stopOnSignal } from './stop-on-signal.ts'

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
  const removeHandlers = stopOnSignal({ stop: () => service.stop(), withinMs: config.drainMs + STOP_WITHIN_MS, log })
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
