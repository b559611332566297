import { isIP } from 'node:net'
import { findClosest } from '../lib/closest-match.ts'
import { coverMostAddresses, createNetworkCheck, isLoopbackHost, isPrivateAddress } from '../lib/network.ts'
import { warnOfContrasts } from './contrasts.ts'
import { warnOfHashMemory } from './hash-cost.ts'
import { variablePrefix } from './provider-parsers.ts'
import { findProviderName, listProviderSettings } from './provider-settings.ts'
import { warnOfPasskeys } from './relying-party.ts'
import { isMisspelt, webhookKey } from '../lib/webhook-key.ts'
import { secretFilesOf } from './root-secret.ts'
import { type Environment, linesOf, type Setting } from './setting.ts'
import { type ReadSettings, SETTINGS } from './settings.ts'

/** The check of the permissions of files with secrets needs this. */
export interface SecretFiles {
  environment: Environment
  /** The names of variables that came from the `.env` file. */
  fromEnvFile: ReadonlySet<string>
  /** The permission bits of a file. Undefined if the file does not exist or the system has no such bits. */
  modeOf: (path: string) => number | undefined
}

/** Warnings about unsafe settings that are accepted, one line each: the variable, the danger, and what to do. */
export const findWarnings = (settings: ReadSettings, files: SecretFiles): string[] => {
  const { baseUrl, oauthProviders = [], trustProxy, webhookUrl, smtp } = settings
  return linesOf([
    isPublicHttp(baseUrl) &&
      `SVC_BASE_URL="${baseUrl}" sends passwords and sessions unencrypted: serve the site by https, and set it to that`,
    !settings.rateLimit &&
      'SVC_RATE_LIMIT="off" lets anybody guess passwords without end: take it away, it is for tests',
    settings.signup === 'providers' &&
      oauthProviders.length === 0 &&
      'SVC_SIGNUP="providers" lets nobody create an account, since SVC_OAUTH_PROVIDERS names no provider',
    warnOfPasskeys(settings),
    coverMostAddresses(trustProxy) &&
      `SVC_TRUST_PROXY="${trustProxy.join(',')}" believes X-Forwarded-For of everybody, so that anybody can choose the ` +
        'address that limits and the log see: name the addresses of your own proxies',
    warnOfHashMemory(settings),
    ...warnOfContrasts(settings),
    warnOfDatabase(settings),
    ...warnOfSecretFiles(settings, files),
    webhookUrl &&
      isPublicHttp(webhookUrl) &&
      `SVC_WEBHOOK_URL sends emails and what users do unencrypted to ${new URL(webhookUrl).host}: use https`,
    warnOfWebhookSecret('SVC_WEBHOOK_SECRET', settings.webhookSecret),
    warnOfWebhookSecret('SVC_WEBHOOK_SECRET_PREVIOUS', settings.previousWebhookSecret),
    smtp?.tls === 'off' &&
      !isLoopbackHost(smtp.host) &&
      `SVC_SMTP_URL with ?tls=off sends messages, whose links lead into accounts, unencrypted to ${smtp.host}: take it ` +
        'away, unless the way there is your own',
    settings.accessTokenLifetimeMs > settings.sessionLifetimeMs &&
      'SVC_ACCESS_TOKEN_TTL is longer than SVC_SESSION_TTL',
    settings.refreshGraceMs > LONG_GRACE_MS &&
      'SVC_REFRESH_GRACE is long: a stolen refresh token is noticed that much later',
  ])
}

const LONG_GRACE_MS = 600_000

const isLoopback = createNetworkCheck(['loopback'])
/** RFC 6761, RFC 6762, RFC 8375 and ICANN's `.internal`. A name without a dot is known only in its own network. */
const isPrivateName = (name: string): boolean =>
  /^[^.]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa|test)$/.test(name.toLowerCase())

const isPublicHttp = (url: string | undefined): boolean => {
  if (!url?.startsWith('http:')) return false
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? !isPrivateName(host) : !(isLoopback(host) || isPrivateAddress(host))
}

const warnOfDatabase = ({ database }: ReadSettings): string | undefined => {
  if (database.kind !== 'postgres') return undefined
  const { host, tls } = database.connection
  const isLocal = host.startsWith('/') || host === 'localhost' || isLoopback(host)
  if (isLocal || tls.mode === 'verify-full') return undefined
  return (
    `SVC_DATABASE_URL reaches ${host} with sslmode=${tls.mode}, so that a machine in between can pass for the database: ` +
    'use sslmode=verify-full with sslrootcert, unless the way there is your own'
  )
}

const OTHERS = 0o006
const GROUP_AND_OTHERS = 0o066

const warnOfSecretFiles = (settings: ReadSettings, { environment, fromEnvFile, modeOf }: SecretFiles): string[] => {
  const warn = (name: string, file: string, forbidden: number): string[] => {
    const mode = modeOf(file) ?? 0
    if ((mode & forbidden) === 0) return []
    const bits = (mode & 0o777).toString(8).padStart(4, '0')
    return [`${name}: other users of this machine can read or change ${file} (mode ${bits}): chmod 600 ${file}`]
  }
  const named = ['SVC_SECRET', 'SVC_SECRET_PREVIOUS'].flatMap((name) => {
    const file = environment[`${name}_FILE`]
    if (file) return warn(`${name}_FILE`, file, OTHERS)
    return fromEnvFile.has(name) ? warn(name, '.env', OTHERS) : []
  })
  // svc creates these files for its own user only, so a group has no reason to read them.
  const own = secretFilesOf(settings)
  const files = own ? [own.current, own.previous] : []
  return [...named, ...files.flatMap((file) => warn('SVC_SECRET is not set', file, GROUP_AND_OTHERS))]
}

const MIN_WEBHOOK_SECRET_BYTES = 16

const warnOfWebhookSecret = (name: string, secret: string | undefined): string | false => {
  if (!secret) return false
  if (isMisspelt(secret))
    return `${name} begins with "whsec_", and no base64 follows: libraries of Standard Webhooks refuse it`
  const isShort = webhookKey(secret).length < MIN_WEBHOOK_SECRET_BYTES
  return isShort && `${name} is shorter than ${MIN_WEBHOOK_SECRET_BYTES} bytes and could be guessed`
}

const PREFIX = 'SVC_'
/** The SDK reads these, and may share a `.env` with svc. */
const OF_SDK = ['SVC_API_KEY', 'SVC_BIN', 'SVC_NODE', 'SVC_URL']
const looksLikeSetting = (name: string): boolean => /^SVC_(?!TEST_)/i.test(name)

/** A warning for each variable that begins with `SVC_` and is no setting, with the setting that was probably meant. */
export const findUnknownSettings = (environment: Environment, providers: readonly string[]): string[] => {
  const known = [...Object.values<Setting<unknown>>(SETTINGS), ...providers.flatMap(listProviderSettings)].flatMap(
    ({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]),
  )
  return Object.keys(environment)
    .filter((name) => looksLikeSetting(name) && !known.includes(name) && !OF_SDK.includes(name))
    .flatMap((name) => {
      const provider = findProviderName(name)
      const isListed = providers.some((listed) => name.startsWith(variablePrefix(listed)))
      if (provider === undefined || isListed) return [`${name} is not a setting of svc${suggest(name, known)}`]
      // An empty variable of a provider that is not listed is no mistake: a template may contain every provider.
      const noEffect = `${name} has no effect: SVC_OAUTH_PROVIDERS does not name "${provider}"`
      return environment[name] ? [`${noEffect}${suggest(name, known)}`] : []
    })
}

/** Compares without the common prefix, which would make every name look similar. */
const suggest = (name: string, known: readonly string[]): string => {
  const endings = known.map((each) => each.slice(PREFIX.length))
  const meant = findClosest(name.slice(PREFIX.length).toUpperCase(), endings)
  return meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
}
