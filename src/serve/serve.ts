import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import { type Config, defaultBaseUrl } from '../config/config.ts'
import { rootSecretFile } from '../config/root-secret.ts'
import { type Log, settleLog } from '../lib/log.ts'
import { createService } from '../service.ts'
import { findPort, listenError } from './port.ts'

/** Past this, what is still under way is cut off. */
const STOP_WITHIN_MS = 9500

interface ServeDeps {
  log: Log
  /** Shown to a person in place of the log's line. */
  greet: ((lines: string) => void) | undefined
}

/** `svc serve`: runs until it is told to stop. */
export const serve = async (given: Config, deps: ServeDeps): Promise<void> => {
  const { log } = deps
  const announce = (config: Config, listen: string): void => {
    sayServing(describe(config, listen), deps)
  }
  if (given.workers > 1) {
    const { serveWithWorkers } = await import('./supervisor.ts')
    return serveWithWorkers(given, { log, announce, stopWithinMs: STOP_WITHIN_MS })
  }
  const config = { ...given, port: await findPort(given) }
  for (const warning of config.warnings) log.warn(warning)
  const service = await createService({
    config,
    log,
    ...(await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })),
  })
  // Before anybody is told that it serves: from then on it may be told to stop.
  const grace = closeWithGrace({ delay: config.drainMs + STOP_WITHIN_MS, logger: false }, async ({ signal, err }) => {
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    else log.info({ signal }, 'stopping')
    await service.stop()
    log.info('stopped')
    await settleLog(log)
  })
  const listen = await service.start().catch(async (error: unknown) => {
    grace.uninstall()
    await service.stop()
    throw listenError(error, config)
  })
  announce(config, listen)
}

const sayServing = (facts: ReturnType<typeof describe>, { log, greet }: ServeDeps): void => {
  if (greet) greet(greeting(facts))
  else log.info(facts, 'svc is serving')
  log.flush()
}

const describe = (config: Config, listen: string) => ({
  listen,
  ...(config.workers > 1 && { workers: config.workers }),
  base_url: config.baseUrl ?? defaultBaseUrl(config.port),
  ...describeDatabase(config),
  signup: config.signup ? 'on' : 'off',
  webhooks: config.webhookUrl ? `on, to ${new URL(config.webhookUrl).origin}` : 'off',
  metrics: metricsUrl(config) ?? 'off',
  providers: config.oauthProviders.map(({ name }) => name).join(', ') || 'off',
  mail: 'off',
})

const metricsUrl = ({ metricsHost: host, metricsPort }: Config): string | undefined =>
  metricsPort === undefined
    ? undefined
    : `http://${host.includes(':') ? `[${host}]` : host}:${metricsPort}/auth/metrics`

const describeDatabase = ({ database, secret }: Config) => {
  // A PostgreSQL database has no folder for a secret, so that it is always set.
  if (database.kind === 'postgres') return { database: database.target.shown, secret: 'SVC_SECRET' }
  const file = resolve(database.file)
  return { database: file, secret: secret ? 'SVC_SECRET' : rootSecretFile(file) }
}

/** The first thing that a person sees. */
const greeting = (facts: ReturnType<typeof describe>): string => `
  svc is serving

  Listening    ${facts.listen}${facts.workers ? `, ${facts.workers} workers` : ''}
  Public       ${facts.base_url}
  Database     ${facts.database}
  Secret       ${facts.secret}
  Signup       ${facts.signup}
  Webhooks     ${facts.webhooks}
  Metrics      ${facts.metrics}
  Providers    ${facts.providers}${facts.providers === 'off' ? '' : `, back to ${facts.base_url}/auth/oauth/NAME/callback`}
  Mail         ${facts.mail}

  Open ${facts.base_url}/auth/signup to create the first account, and press Ctrl+C to stop.

`
