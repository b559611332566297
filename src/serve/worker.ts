import type { Worker } from 'node:cluster'
import closeWithGrace from 'close-with-grace'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import { type Log, settleLog } from '../lib/log.ts'
import { createService, type Service } from '../service.ts'
import { listenError } from './port.ts'
import { type Order, type Settings, tell, toFailure } from './worker-messages.ts'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const

/** The life of a worker: it serves until it is told to stop, or its supervisor is gone. */
export const runWorker = async (worker: Worker, openLog: (config: Config) => Log): Promise<void> => {
  const { config, stopWithinMs } = await askForSettings(worker)
  const log = openLog(config).child({ pid: process.pid })
  try {
    const service = await createService({
      config,
      log,
      ...(await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })),
    })
    stopWhenTold({ worker, service, config, log, stopWithinMs })
    measureWhenAsked(worker, service, log)
    answerPings(worker)
    tell(worker, { kind: 'serves', listen: await listen(service, config) })
  } catch (error) {
    // Told and not written: what goes wrong for every worker is to be read once.
    tell(worker, { kind: 'fails', failure: toFailure(error) }, () => process.exit(1))
  }
}

const askForSettings = (worker: Worker): Promise<Settings> =>
  new Promise((resolve) => {
    worker.on('message', (order: Order) => {
      if (order.kind === 'begin') resolve(order)
    })
    tell(worker, { kind: 'asks' })
  })

const listen = async (service: Service, config: Config): Promise<string> => {
  try {
    return await service.start({ sharesPort: true })
  } catch (error) {
    throw listenError(error, config)
  }
}

const measureWhenAsked = (worker: Worker, service: Service, log: Log): void => {
  const measure = async (): Promise<void> => {
    const metrics = await service.measure().catch((error: unknown) => {
      log.error({ err: error }, 'metrics cannot be read')
      return undefined
    })
    tell(worker, { kind: 'measures', metrics })
  }
  worker.on('message', (order: Order) => {
    if (order.kind === 'measure') void measure()
  })
}

const answerPings = (worker: Worker): void => {
  worker.on('message', (order: Order) => {
    if (order.kind === 'ping') tell(worker, { kind: 'lives' })
  })
}

interface StopDeps extends Settings {
  worker: Worker
  service: Service
  log: Log
}

const stopWhenTold = ({ worker, service, config, log, stopWithinMs }: StopDeps): void => {
  let isStopping = false
  const delay = config.drainMs + stopWithinMs
  const grace = closeWithGrace({ delay, logger: false, skip: [...STOP_SIGNALS] }, async ({ err }) => {
    isStopping = true
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    tell(worker, { kind: 'leaves' })
    // Where the supervisor is gone, the next one wants the port at once.
    await service.stop(worker.isConnected() ? config.drainMs : 0)
    await settleLog(log)
  })
  // Only the first order counts: a signal to the whole process group comes beside the supervisor's.
  const stop = (): void => {
    if (!isStopping) grace.close()
  }
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  worker.on('message', (order: Order) => {
    if (order.kind === 'stop') stop()
  })
  worker.on('disconnect', () => {
    // Without this, Node ends the process at once, requests or not.
    worker.exitedAfterDisconnect = true
    stop()
  })
}
