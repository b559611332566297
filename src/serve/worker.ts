import type { Worker } from 'node:cluster'
import closeWithGrace from 'close-with-grace'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import { flushLog, type Log } from '../lib/log.ts'
import { createService, type Service } from '../service.ts'
import { listenError } from './port.ts'
import { type MessageToWorker, send, serializeError, type WorkerSettings } from './worker-messages.ts'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const

type OpenLog = (config: Config, ofProcess: object) => Log

/** Runs a worker process, which serves until its supervisor tells it to stop, or has ended. */
export const runWorker = async (worker: Worker, openLog: OpenLog): Promise<void> => {
  const { config, stopWithinMs } = await requestSettings(worker)
  const log = openLog(config, { pid: process.pid })
  try {
    const service = await createService({
      config,
      log,
      ...(await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })),
    })
    stopOnRequest({ worker, service, config, log, stopWithinMs })
    sendMetricsOnRequest(worker, service, log)
    answerPings(worker)
    send(worker, { kind: 'serving', listen: await listen(service, config) })
  } catch (error) {
    // Sent to the supervisor and not logged here: an error that all workers have is printed once.
    send(worker, { kind: 'failed', failure: serializeError(error) }, () => process.exit(1))
  }
}

const requestSettings = (worker: Worker): Promise<WorkerSettings> =>
  new Promise((resolve) => {
    worker.on('message', (message: MessageToWorker) => {
      if (message.kind === 'settings') resolve(message)
    })
    send(worker, { kind: 'started' })
  })

const listen = async (service: Service, config: Config): Promise<string> => {
  try {
    return await service.start({ sharesPort: true })
  } catch (error) {
    throw listenError(error, config)
  }
}

const sendMetricsOnRequest = (worker: Worker, service: Service, log: Log): void => {
  const sendMetrics = async (): Promise<void> => {
    const metrics = await service.measure().catch((error: unknown) => {
      log.error({ err: error }, 'metrics cannot be read')
      return undefined
    })
    send(worker, { kind: 'metrics', metrics })
  }
  worker.on('message', (message: MessageToWorker) => {
    if (message.kind === 'get-metrics') void sendMetrics()
  })
}

const answerPings = (worker: Worker): void => {
  worker.on('message', (message: MessageToWorker) => {
    if (message.kind === 'ping') send(worker, { kind: 'pong' })
  })
}

interface StopDeps extends WorkerSettings {
  worker: Worker
  service: Service
  log: Log
}

const stopOnRequest = ({ worker, service, config, log, stopWithinMs }: StopDeps): void => {
  let isStopping = false
  const delay = config.drainMs + stopWithinMs
  const grace = closeWithGrace({ delay, logger: false, skip: [...STOP_SIGNALS] }, async ({ err }) => {
    isStopping = true
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    send(worker, { kind: 'stopping' })
    // Without a drain when the supervisor has ended, because its successor needs the port at once.
    await service.stop(worker.isConnected() ? config.drainMs : 0)
    await flushLog(log)
  })
  // A signal to the whole process group arrives in addition to the supervisor's message; only the first counts.
  const stop = (): void => {
    if (!isStopping) grace.close()
  }
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  worker.on('message', (message: MessageToWorker) => {
    if (message.kind === 'stop') stop()
  })
  worker.on('disconnect', () => {
    // Without this, Node would end the process at once and drop its requests.
    worker.exitedAfterDisconnect = true
    stop()
  })
}
