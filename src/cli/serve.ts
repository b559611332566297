import { createServer } from 'node:net'
import { once } from 'node:events'
import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { type Config, defaultBaseUrl } from '../config.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { openInstallation } from '../installation.ts'
import { rootSecretFile } from '../root-secret.ts'
import { createService } from '../service.ts'

/** Past this, what is still under way is cut off. */
const STOP_WITHIN_MS = 9500

interface Surroundings {
  log: Log
  /** Shown to a person in place of the log's line. */
  greet: ((lines: string) => void) | undefined
}

/** `svc serve`: runs until it is told to stop. */
export const serve = async (given: Config, { log, greet }: Surroundings): Promise<void> => {
  const port =
    given.port ||
    (await findFreePort(given.host).catch((error: unknown) => {
      throw listenError(error, given)
    }))
  const config = { ...given, port }
  for (const warning of config.warnings) log.warn(warning)
  const service = await createService(config, log, await openInstallation(config, log))
  // Before anybody is told that it serves: from then on it may be told to stop.
  const grace = closeWithGrace({ delay: config.drainMs + STOP_WITHIN_MS, logger: false }, async ({ signal, err }) => {
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    else log.info({ signal }, 'stopping')
    await service.stop()
    log.info('stopped')
  })
  const listen = await service.start().catch(async (error: unknown) => {
    grace.uninstall()
    await service.stop()
    throw listenError(error, config)
  })
  const facts = describe(config, listen)
  if (greet) greet(greeting(facts))
  else log.info(facts, 'svc is serving')
  log.flush()
}

/** The base URL stands in every token, so it must be known before anything listens. */
const findFreePort = async (host: string): Promise<number> => {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

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

const describe = (config: Config, listen: string) => ({
  listen,
  base_url: config.baseUrl ?? defaultBaseUrl(config.port),
  database: resolve(config.database.file),
  secret: config.secret ? 'SVC_SECRET' : rootSecretFile(resolve(config.database.file)),
  signup: config.signup ? 'on' : 'off',
  webhooks: config.webhookUrl ? `on, to ${new URL(config.webhookUrl).origin}` : 'off',
  providers: 'off',
  mail: 'off',
})

/** The first thing that a person sees. */
const greeting = (facts: ReturnType<typeof describe>): string => `
  svc is serving

  Listening    ${facts.listen}
  Public       ${facts.base_url}
  Database     ${facts.database}
  Secret       ${facts.secret}
  Signup       ${facts.signup}
  Webhooks     ${facts.webhooks}
  Providers    ${facts.providers}
  Mail         ${facts.mail}

  Open ${facts.base_url}/auth/signup to create the first account, and press Ctrl+C to stop.

`
