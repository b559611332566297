import { resolve } from 'node:path'
import { type Config, defaultBaseUrl } from '../config/config.ts'
import { hashMemoryOf } from '../config/hash-cost.ts'
import { shownSmtp } from '../config/mail-parsers.ts'
import { secretFilesOf } from '../config/root-secret.ts'
import { toMiB } from '../lib/machine.ts'

/** The fields of the log line "svc is serving". PostgreSQL has no folder for a secret file. */
interface Overview {
  listen: string
  base_url: string
  database: string
  secret: string
  password_hashes: string
  signup: Config['signup']
  webhooks: string
  metrics: string
  providers: string
  mail: string
  clients: string
  administration: string
}

export const overviewOf = (config: Config, listen: string): Overview => ({
  listen,
  base_url: config.baseUrl ?? defaultBaseUrl(config.port),
  database: config.database.kind === 'sqlite' ? resolve(config.database.file) : config.database.connection.redactedUrl,
  secret: secretFilesOf(config)?.current ?? 'SVC_SECRET',
  password_hashes: describeHashes(config),
  signup: config.signup,
  webhooks: config.webhookUrl ? `on, to ${new URL(config.webhookUrl).origin}` : 'off',
  metrics: metricsUrl(config) ?? 'off',
  providers: config.oauthProviders.map(({ name }) => name).join(', ') || 'off',
  mail: config.smtp ? `on, by ${shownSmtp(config.smtp)}` : 'off',
  clients: describeClients(config),
  administration: config.adminUrl === undefined ? 'off' : `${config.adminUrl}, on port ${config.adminPort}`,
})

const describeClients = ({ clients, clientResources }: Config): string => {
  if (!clients) return 'off'
  return clientResources.length > 0 ? `on, for ${clientResources.join(', ')}` : 'on, for no resource'
}

const describeHashes = (config: Config): string => {
  const { memoryCost, timeCost, parallelism } = config.argon2
  return `m=${memoryCost},t=${timeCost},p=${parallelism}; at most ${config.hashesAtOnce} at once, in ${toMiB(hashMemoryOf(config))} MiB`
}

const metricsUrl = ({ metricsHost: host, metricsPort }: Config): string | undefined =>
  metricsPort === undefined
    ? undefined
    : `http://${host.includes(':') ? `[${host}]` : host}:${metricsPort}/auth/metrics`

export const overviewText = (overview: Overview): string => `
  svc is serving

  Listening    ${overview.listen}
  Public       ${overview.base_url}
  Database     ${overview.database}
  Secret       ${overview.secret}
  Hashes       ${overview.password_hashes}
  Signup       ${overview.signup}
  Webhooks     ${overview.webhooks}
  Metrics      ${overview.metrics}
  Providers    ${overview.providers}${overview.providers === 'off' ? '' : `, back to ${overview.base_url}/auth/oauth/NAME/callback`}
  Mail         ${overview.mail}
  Clients      ${overview.clients}
  Admin        ${overview.administration}

  Open ${overview.base_url}/auth/signup to create the first account, and press Ctrl+C to stop.

`
