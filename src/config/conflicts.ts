import { knownTags, ownTags, type OwnTexts } from '../languages/languages.ts'
import { isLoopbackHost } from '../lib/network.ts'
import { isLocalOrigin } from '../lib/url.ts'
import { isOwnDomain, relyingPartyIdOf } from './relying-party.ts'
import { type Environment, isSet, linesOf } from './setting.ts'
import { type ReadSettings, SETTINGS } from './settings.ts'

/** Finds settings that are good alone and impossible together, one line each. */
export const findConflicts = (environment: Environment, settings: ReadSettings, ownTexts?: OwnTexts): string[] => {
  const has = (key: keyof typeof SETTINGS): boolean => isSet(SETTINGS[key], environment)
  const missing = (key: keyof typeof SETTINGS, needed: keyof typeof SETTINGS, how = ''): string | false =>
    has(key) &&
    !has(needed) &&
    `${SETTINGS[needed].name} is missing: it must be set when ${SETTINGS[key].name} is${how}`
  // An invalid base URL counts as https and as public, since it is an error already.
  const isPlainHttp = settings.baseUrl ? !settings.baseUrl.startsWith('https:') : !has('baseUrl')
  const { webhookSecret, database, logLevel } = settings
  return linesOf([
    ...findUnknownLanguages(settings, ownTexts),
    missing('webhookUrl', 'webhookSecret'),
    missing('webhookSecret', 'webhookUrl'),
    missing('previousWebhookSecret', 'webhookSecret') ||
      (webhookSecret !== undefined &&
        webhookSecret === settings.previousWebhookSecret &&
        'SVC_WEBHOOK_SECRET_PREVIOUS and SVC_WEBHOOK_SECRET are the same: set the new one, or unset the previous one'),
    missing('smtp', 'mailFrom', ', to the address that messages come from'),
    findMailConflict(settings, has),
    settings.emailSignIn &&
      !has('smtp') &&
      'SVC_EMAIL_SIGN_IN=on needs mail: set SVC_SMTP_URL and SVC_MAIL_FROM, or leave SVC_EMAIL_SIGN_IN at off',
    environment.SVC_PASSWORDS === 'off' && !has('oauthProviders') && findNoWayIn(settings),
    (settings.baseUrl || !has('baseUrl')) && findForeignDomain(settings),
    environment.SVC_USERNAMES === 'off' && findLoginByUsername(settings),
    findSharedPort(settings),
    settings.colorScheme !== 'dark' && missing('logoDarkUrl', 'logoUrl'),
    missing('adminUrl', 'adminPort') || missing('adminPort', 'adminUrl') || findAdminConflict(settings),
    ...(isPlainHttp ? findHttpsOnly(settings) : []),
    findUnencryptedClients(settings) || findSharedAudience(settings),
    settings.auditLog &&
      logLevel &&
      !['debug', 'info'].includes(logLevel) &&
      `SVC_AUDIT_LOG=on has no effect with SVC_LOG_LEVEL=${logLevel}: records are lines of level info, so it must be info or debug`,
    missing('previousSecret', 'secret'),
    database?.kind === 'postgres' &&
      !has('secret') &&
      'SVC_SECRET is missing: with PostgreSQL it must be set, to the same value in every process',
  ])
}

const findSharedPort = ({ port, metricsPort, adminPort }: ReadSettings): string | false => {
  if (metricsPort !== undefined && metricsPort === port)
    return 'SVC_METRICS_PORT and SVC_PORT are the same: metrics need a separate port'
  if (adminPort === undefined || (adminPort !== port && adminPort !== metricsPort)) return false
  const other = adminPort === port ? 'SVC_PORT' : 'SVC_METRICS_PORT'
  return `SVC_ADMIN_PORT and ${other} are the same: the pages of administrators need a separate port`
}

/** A hole of the application must not reach administrators. Cookies and passkeys know no ports. */
const findAdminConflict = (settings: ReadSettings): string | false => {
  const { adminUrl, baseUrl } = settings
  if (adminUrl === undefined) return false
  const host = new URL(adminUrl).hostname
  const ownHost = baseUrl === undefined ? 'localhost' : new URL(baseUrl).hostname
  if (host === ownHost || ownHost.endsWith(`.${host}`))
    return (
      `SVC_ADMIN_URL="${adminUrl}" is not accepted: its host must not be that of SVC_BASE_URL (${ownHost}), nor a parent ` +
      'domain of it, since cookies and passkeys of the one would reach the other'
    )
  const relyingPartyId = relyingPartyIdOf(settings)
  return (
    host === relyingPartyId &&
    `SVC_ADMIN_URL="${adminUrl}" is not accepted: passkeys of users belong to ${relyingPartyId} (SVC_WEBAUTHN_RP_ID)`
  )
}

const findHttpsOnly = ({ cookiePrefix, hstsMs }: ReadSettings): (string | false | undefined)[] => [
  cookiePrefix && 'SVC_COOKIE_PREFIX=on needs a SVC_BASE_URL with https: browsers accept such cookies over https only',
  hstsMs !== undefined &&
    'SVC_HSTS is set, and SVC_BASE_URL is not https: browsers accept Strict-Transport-Security over https only',
]

const findUnencryptedClients = ({ clients, baseUrl }: ReadSettings): string | false | undefined =>
  clients &&
  baseUrl?.startsWith('http:') &&
  !isLocalOrigin(baseUrl) &&
  'SVC_CLIENTS=on needs a SVC_BASE_URL with https: codes and tokens of clients would be sent unencrypted'

const findUnknownLanguages = (
  { language, languages }: ReadSettings,
  ownTexts: OwnTexts = new Map(),
): (string | false)[] => {
  const tags = [...knownTags(), ...ownTexts.keys()]
  const known = `the languages are ${[...new Set([...ownTags(), ...ownTexts.keys()])].join(', ')}`
  const refuse = (name: string, tag: string): string => `${name}=${JSON.stringify(tag)} is not accepted: ${known}`
  return [
    language !== undefined && !tags.includes(language) && refuse('SVC_LANGUAGE', language),
    ...(languages ?? []).map((tag) => !tags.includes(tag) && refuse('SVC_LANGUAGES', tag)),
    language !== undefined &&
      languages !== undefined &&
      !languages.includes(language) &&
      `SVC_LANGUAGES does not have ${language}, the language of SVC_LANGUAGE: add it, or set SVC_LANGUAGE to one of them`,
  ]
}

const findNoWayIn = (settings: ReadSettings): string | false =>
  !settings.emailSignIn &&
  relyingPartyIdOf(settings) === undefined &&
  'SVC_OAUTH_PROVIDERS is missing: with SVC_PASSWORDS=off, without passkeys and without SVC_EMAIL_SIGN_IN=on, nobody could log in'

const findLoginByUsername = ({ loginWith }: ReadSettings): string | false =>
  loginWith === 'both' && 'SVC_LOGIN_WITH=both needs usernames: set SVC_USERNAMES=on, or leave SVC_LOGIN_WITH at email'

const findMailConflict = (
  { smtp, baseUrl, emailVerification }: ReadSettings,
  has: (key: 'smtp' | 'baseUrl') => boolean,
): string | false | undefined => {
  if (!has('smtp'))
    return (
      (emailVerification === 'optional' || emailVerification === 'required') &&
      `SVC_EMAIL_VERIFICATION=${emailVerification} needs mail: set SVC_SMTP_URL and SVC_MAIL_FROM`
    )
  const isOnThisMachine = baseUrl ? isLoopbackHost(new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')) : !has('baseUrl')
  return (
    smtp &&
    !isLoopbackHost(smtp.host) &&
    isOnThisMachine &&
    `SVC_BASE_URL must be set to the public origin when SVC_SMTP_URL leads to ${smtp.host}: links in messages would ` +
      'lead to the machine of the user who reads them'
  )
}

const findForeignDomain = ({ relyingPartyId, baseUrl }: ReadSettings): string | false =>
  relyingPartyId !== undefined &&
  !isOwnDomain(relyingPartyId, baseUrl) &&
  `SVC_WEBAUTHN_RP_ID=${JSON.stringify(relyingPartyId)} is not accepted: it must be the host of SVC_BASE_URL or a parent ` +
    'domain of it, or browsers refuse every passkey'

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

/** A token of a cookie must never pass for one of a client. */
const findSharedAudience = ({ audiences, clientResources }: ReadSettings): string | false => {
  const resources = new Set(clientResources?.map((resource) => new URL(resource).href))
  const shared = audiences?.find((audience) => URL.canParse(audience) && resources.has(new URL(audience).href))
  return (
    shared !== undefined &&
    `SVC_AUDIENCES and SVC_CLIENT_RESOURCES both have ${shared}: tokens of cookies and of clients must be for different audiences`
  )
}
