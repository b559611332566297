import { variablePrefix } from '../config/provider-parsers.ts'
import { knownTags } from '../languages/languages.ts'
import type { Environment } from '../config/setting.ts'
import { ConfigError } from '../config/config.ts'
import { DEV_PROVIDER, ISSUER } from './given.ts'

/** `svc dev` has these itself (the address, the database, the secret, mail, webhooks and keys), or cannot serve them. */
const OWN = [
  'SVC_HOST',
  'SVC_PORT',
  'SVC_HSTS',
  'SVC_COOKIE_PREFIX',
  'SVC_WEBAUTHN_RP_ID',
  'SVC_METRICS_HOST',
  'SVC_METRICS_PORT',
  'SVC_ADMIN_URL',
  'SVC_ADMIN_PORT',
  'SVC_DATABASE_URL',
  'SVC_SECRET',
  'SVC_SECRET_PREVIOUS',
  'SVC_SMTP_URL',
  'SVC_MAIL_FROM',
  'SVC_WEBHOOK_URL',
  'SVC_WEBHOOK_SECRET',
  'SVC_WEBHOOK_SECRET_PREVIOUS',
  'SVC_API_KEY',
]

const OWN_NAMES: ReadonlySet<string> = new Set(OWN.flatMap((name) => [name, `${name}_FILE`]))

/** The environment may have others. The pseudo-language shows developers text that stands in no file. */
const defaultsFor = ({ SVC_TEXTS }: Environment): Environment => ({
  SVC_RATE_LIMIT: 'off',
  ...(!SVC_TEXTS && { SVC_LANGUAGES: knownTags().join(',') }),
})

/** Throws `ConfigError` where the environment is that of a service which people use. */
export const refuseProduction = (environment: Environment): void => {
  const mistakes = [
    ...(environment['NODE_ENV'] === 'production'
      ? ['NODE_ENV is "production": svc dev lets anybody on this machine sign in as anybody. Use svc serve']
      : []),
    ...(environment['SVC_BASE_URL']
      ? ['SVC_BASE_URL is set: svc dev serves localhost alone. Unset it here, or use svc serve']
      : []),
  ]
  if (mistakes.length > 0) throw new ConfigError(mistakes)
}

export interface OwnSettings {
  baseUrl: string
  port: number
  databaseFile: string
  smtpUrl: string
  webhookUrl: string
  webhookSecret: string
}

/** The settings of the service, and those of the environment that it does not take. */
export interface DevEnvironment {
  environment: Environment
  notUsed: string[]
}

/**
 * Takes the settings of an environment that `svc dev` has not itself, and adds its own. Throws `ConfigError` if the
 * environment has a provider of the same name as that of `svc dev`.
 */
export const toDevEnvironment = (given: Environment, own: OwnSettings): DevEnvironment => {
  const names = Object.keys(given).filter((name) => given[name])
  const taken = names.filter((name) => !OWN_NAMES.has(name))
  return {
    environment: {
      ...defaultsFor(given),
      ...Object.fromEntries(taken.map((name) => [name, given[name]])),
      ...providerSettings(given['SVC_OAUTH_PROVIDERS']),
      SVC_BASE_URL: own.baseUrl,
      SVC_PORT: String(own.port),
      SVC_DATABASE_URL: `sqlite:${own.databaseFile}`,
      SVC_SMTP_URL: own.smtpUrl,
      SVC_MAIL_FROM: 'svc dev <svc@example.com>',
      SVC_WEBHOOK_URL: own.webhookUrl,
      SVC_WEBHOOK_SECRET: own.webhookSecret,
    },
    notUsed: names.filter((name) => OWN_NAMES.has(name)),
  }
}

const providerSettings = (given = ''): Environment => {
  const { name, label, clientId, clientSecret } = DEV_PROVIDER
  const others = given.split(',').filter((each) => each.trim() !== '')
  if (others.some((each) => each.trim() === name))
    throw new ConfigError([`SVC_OAUTH_PROVIDERS names "${name}", which svc dev has itself: give yours another name`])
  const prefix = variablePrefix(name)
  return {
    SVC_OAUTH_PROVIDERS: [...others, name].join(','),
    [`${prefix}CLIENT_ID`]: clientId,
    [`${prefix}CLIENT_SECRET`]: clientSecret,
    [`${prefix}ISSUER`]: ISSUER,
    [`${prefix}LABEL`]: label,
  }
}

/** Leaves out what `svc dev` has caused itself. */
export const ownWarningsOf = (warnings: readonly string[], given: Environment): string[] =>
  warnings.filter(
    (warning) => !Object.keys(defaultsFor(given)).some((name) => !given[name] && warning.startsWith(name)),
  )
