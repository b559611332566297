import { resolve } from 'node:path'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import { type Config, defaultBaseUrl } from '../config/config.ts'
import { hashMemoryOf } from '../config/hash-memory.ts'
import { rootSecretFile } from '../config/root-secret.ts'
import { shownSmtp } from '../config/smtp-url.ts'
import type { Log } from '../lib/log.ts'
import { toMiB } from '../lib/memory.ts'
import { createService } from '../service.ts'
import { findPort, listenError } from './port.ts'
import { stopOnSignal } from './stop-on-signal.ts'

/** After the drain and this time, requests that are still running are cut off. */
const STOP_WITHIN_MS = 9500

interface ServeDeps {
  log: Log
  /** On a terminal: shows a summary for people in place of the line in the log. */
  greet: ((lines: string) => void) | undefined
}

/** `svc serve`: runs until it is told to stop. */
export const serve = async (configured: Config, deps: ServeDeps): Promise<void> => {
  const { log } = deps
  const reportServing = (config: Config, listen: string): void => {
    printOverview(toOverview(config, listen), deps)
  }
  if (configured.workers > 1) {
    const { serveWithWorkers } = await import('./supervisor.ts')
    return serveWithWorkers(configured, { log, reportServing, stopWithinMs: STOP_WITHIN_MS })
  }
  const config = { ...configured, port: await findPort(configured) }
  for (const warning of config.warnings) log.warn(warning)
  const service = await createService({
    config,
    log,
    ...(await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })),
  })
  // Before the service reports that it serves: from then on it may be told to stop.
  const delayMs = config.drainMs + STOP_WITHIN_MS
  const removeHandlers = stopOnSignal({ log, delayMs, stop: () => service.stop() })
  const listen = await service.start().catch(async (error: unknown) => {
    removeHandlers()
    await service.stop()
    throw listenError(error, config)
  })
  reportServing(config, listen)
}

/** The fields of the log line "svc is serving". */
interface Overview {
  listen: string
  workers?: number
  base_url: string
  database: string
  secret: string
  /** What they cost, and the memory that they hold at most. */
  password_hashes: string
  signup: Config['signup']
  webhooks: string
  metrics: string
  providers: string
  mail: string
}

const printOverview = (overview: Overview, { log, greet }: ServeDeps): void => {
  if (greet) greet(overviewText(overview))
  else log.info(overview, 'svc is serving')
  log.flush()
}

const toOverview = (config: Config, listen: string): Overview => ({
  listen,
  ...(config.workers > 1 && { workers: config.workers }),
  base_url: config.baseUrl ?? defaultBaseUrl(config.port),
  ...describeDatabase(config),
  password_hashes: describeHashes(config),
  signup: config.signup,
  webhooks: config.webhookUrl ? `on, to ${new URL(config.webhookUrl).origin}` : 'off',
  metrics: metricsUrl(config) ?? 'off',
  providers: config.oauthProviders.map(({ name }) => name).join(', ') || 'off',
  mail: config.smtp ? `on, by ${shownSmtp(config.smtp)}` : 'off',
})

const describeHashes = (config: Config): string => {
  const { memoryCost, timeCost, parallelism } = config.argon2
  const { hashes, bytes } = hashMemoryOf(config)
  return `m=${memoryCost},t=${timeCost},p=${parallelism}; at most ${hashes} at once, in ${toMiB(bytes)} MiB`
}

const metricsUrl = ({ metricsHost: host, metricsPort }: Config): string | undefined =>
  metricsPort === undefined
    ? undefined
    : `http://${host.includes(':') ? `[${host}]` : host}:${metricsPort}/auth/metrics`

const describeDatabase = ({ database, secret }: Config): Pick<Overview, 'database' | 'secret'> => {
  // With PostgreSQL there is no folder for a secret file, so SVC_SECRET is always set.
  if (database.kind === 'postgres') return { database: database.connection.redactedUrl, secret: 'SVC_SECRET' }
  const file = resolve(database.file)
  return { database: file, secret: secret ? 'SVC_SECRET' : rootSecretFile(file) }
}

const overviewText = (overview: Overview): string => `
  svc is serving

  Listening    ${overview.listen}${overview.workers ? `, ${overview.workers} workers` : ''}
  Public       ${overview.base_url}
  Database     ${overview.database}
  Secret       ${overview.secret}
  Hashes       ${overview.password_hashes}
  Signup       ${overview.signup}
  Webhooks     ${overview.webhooks}
  Metrics      ${overview.metrics}
  Providers    ${overview.providers}${overview.providers === 'off' ? '' : `, back to ${overview.base_url}/auth/oauth/NAME/callback`}
  Mail         ${overview.mail}

  Open ${overview.base_url}/auth/signup to create the first account, and press Ctrl+C to stop.

`
