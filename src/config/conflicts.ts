import { isLoopbackHost } from '../lib/network.ts'
import { isOwnDomain, relyingPartyIdOf } from './relying-party.ts'
import { type Environment, isSet } from './setting.ts'
import { type ReadSettings, SETTINGS } from './settings.ts'

/** Finds settings that are good alone and impossible together, one line each. */
export const findConflicts = (environment: Environment, settings: ReadSettings): string[] => {
  const { database, port, metricsPort, hstsMs, cookiePrefix, baseUrl } = settings
  return [
    ...findHalfWebhook(environment),
    ...findPreviousWebhookSecret(environment, settings),
    ...findMailConflicts(environment, settings),
    ...findNoWayIn(environment, settings),
    ...findForeignDomain(environment, settings),
    ...(settings.loginWith === 'both' && environment.SVC_USERNAMES === 'off'
      ? ['SVC_LOGIN_WITH=both needs usernames: set SVC_USERNAMES=on, or leave SVC_LOGIN_WITH at email']
      : []),
    ...(metricsPort !== undefined && metricsPort === port
      ? ['SVC_METRICS_PORT and SVC_PORT are the same: metrics need a separate port']
      : []),
    ...(cookiePrefix && isPlainHttp(baseUrl, environment)
      ? ['SVC_COOKIE_PREFIX=on needs a SVC_BASE_URL with https: browsers accept such cookies over https only']
      : []),
    ...(hstsMs !== undefined && isPlainHttp(baseUrl, environment)
      ? ['SVC_HSTS is set, and SVC_BASE_URL is not https: browsers accept Strict-Transport-Security over https only']
      : []),
    ...(settings.auditLog && settings.logLevel && !['debug', 'info'].includes(settings.logLevel)
      ? [
          `SVC_AUDIT_LOG=on has no effect with SVC_LOG_LEVEL=${settings.logLevel}: records are lines of level info, so it must be info or debug`,
        ]
      : []),
    ...(isSet(SETTINGS.previousSecret, environment) && !isSet(SETTINGS.secret, environment)
      ? ['SVC_SECRET is missing: it must be set when SVC_SECRET_PREVIOUS is']
      : []),
    ...(database?.kind === 'postgres' && !environment.SVC_SECRET && !environment.SVC_SECRET_FILE
      ? ['SVC_SECRET is missing: with PostgreSQL it must be set, to the same value in every process']
      : []),
  ]
}

/** Tells whether the base URL is not https. An invalid one counts as https, since it is an error already. */
const isPlainHttp = (baseUrl: string | undefined, { SVC_BASE_URL: text }: Environment): boolean =>
  baseUrl ? !baseUrl.startsWith('https:') : !text

const findNoWayIn = (environment: Environment, settings: ReadSettings): string[] =>
  environment.SVC_PASSWORDS === 'off' &&
  !isSet(SETTINGS.oauthProviders, environment) &&
  relyingPartyIdOf(settings) === undefined
    ? ['SVC_OAUTH_PROVIDERS is missing: with SVC_PASSWORDS=off and without passkeys, nobody could log in']
    : []

/** An invalid base URL is an error already. */
const findForeignDomain = (environment: Environment, { relyingPartyId, baseUrl }: ReadSettings): string[] => {
  if (relyingPartyId === undefined || (isSet(SETTINGS.baseUrl, environment) && !baseUrl)) return []
  if (isOwnDomain(relyingPartyId, baseUrl)) return []
  return [
    `SVC_WEBAUTHN_RP_ID=${JSON.stringify(relyingPartyId)} is not accepted: it must be the host of SVC_BASE_URL or a parent ` +
      'domain of it, or browsers refuse every passkey',
  ]
}

const findHalfWebhook = (environment: Environment): string[] => {
  const url = environment.SVC_WEBHOOK_URL
  const secret = environment.SVC_WEBHOOK_SECRET || environment.SVC_WEBHOOK_SECRET_FILE
  if (url && !secret) return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_URL is']
  if (secret && !url) return ['SVC_WEBHOOK_URL is missing: it must be set when SVC_WEBHOOK_SECRET is']
  return []
}

const findPreviousWebhookSecret = (environment: Environment, settings: ReadSettings): string[] => {
  if (!isSet(SETTINGS.previousWebhookSecret, environment)) return []
  if (!isSet(SETTINGS.webhookSecret, environment))
    return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_SECRET_PREVIOUS is']
  const { webhookSecret, previousWebhookSecret } = settings
  return webhookSecret !== undefined && webhookSecret === previousWebhookSecret
    ? ['SVC_WEBHOOK_SECRET_PREVIOUS and SVC_WEBHOOK_SECRET are the same: set the new one, or unset the previous one']
    : []
}

const findMailConflicts = (environment: Environment, settings: ReadSettings): string[] =>
  isSet(SETTINGS.smtp, environment) ? findConflictsWithMail(environment, settings) : findConflictsWithoutMail(settings)

const findConflictsWithMail = (environment: Environment, { smtp, baseUrl }: ReadSettings): string[] => [
  ...(isSet(SETTINGS.mailFrom, environment)
    ? []
    : ['SVC_MAIL_FROM is missing: it must be set when SVC_SMTP_URL is, to the address that messages come from']),
  ...(smtp && !isLoopbackHost(smtp.host) && isOnThisMachine(baseUrl, environment)
    ? [
        `SVC_BASE_URL must be set to the public origin when SVC_SMTP_URL leads to ${smtp.host}: links in messages would ` +
          'lead to the machine of the user who reads them',
      ]
    : []),
]

/** An invalid base URL is an error already. */
const isOnThisMachine = (baseUrl: string | undefined, environment: Environment): boolean =>
  baseUrl ? isLoopbackHost(new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')) : !isSet(SETTINGS.baseUrl, environment)

const findConflictsWithoutMail = ({ emailVerification }: ReadSettings): string[] =>
  emailVerification === 'optional' || emailVerification === 'required'
    ? [`SVC_EMAIL_VERIFICATION=${emailVerification} needs mail: set SVC_SMTP_URL and SVC_MAIL_FROM`]
    : []

/**
 * Reads the certificates of the database, so that a missing file is an error at the start and not at the first query.
 */
export const findUnreadableCertificates = (
  { database }: ReadSettings,
  readFile: (path: string) => string,
): string[] => {
  if (database?.kind !== 'postgres') return []
  const { rootCertificateFile, certificateFile, keyFile } = database.connection.tls
  const sslrootcert = rootCertificateFile === 'system' ? undefined : rootCertificateFile
  return Object.entries({ sslrootcert, sslcert: certificateFile, sslkey: keyFile }).flatMap(([parameter, file]) => {
    if (file === undefined) return []
    try {
      readFile(file)
      return []
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return [`SVC_DATABASE_URL: ${parameter}=${JSON.stringify(file)} cannot be read (${code})`]
    }
  })
}
