import { isDevelopment, readVariable } from '../environment.ts'
import { readRevocations, type RevocationOptions, type RevocationSettings } from '../revocations/settings.ts'
import { onDemandKey } from './api-key.ts'
import { onDemand } from './on-demand.ts'

/** How an application reaches svc. Each setting that is left out comes from the environment, or has a default. */
export interface AuthOptions {
  /** The address of svc as the backend reaches it, such as `http://127.0.0.1:8080`. Default: `SVC_URL`. */
  url?: string | undefined
  /** The public origin, which svc writes into its tokens. Default: `SVC_BASE_URL`. */
  issuer?: string | undefined
  /** The audience that an access token must have. Default: `app`. */
  audience?: string | undefined
  /** A key of the server API with the scope `sessions:read`, for `checkSession`. Default: `SVC_API_KEY`. */
  apiKey?: string | undefined
  /** How long a question to svc may take, in milliseconds. Default: 5000. */
  timeoutMs?: number | undefined
  /** With this, `verifyAccessToken` refuses the tokens of ended sessions, and connections can end with theirs. */
  revocations?: RevocationOptions | undefined
}

/** The options, complete and checked. */
export interface AuthSettings {
  /**
   * The address of svc. Throws a `TypeError` where it is missing: at the first question, since a build loads modules
   * without the environment that they will run in.
   */
  requireUrl(): string
  /** The public origin. Throws a `TypeError` where it is missing: only the verification of tokens asks for it. */
  requireIssuer(): string
  /** The key of the server API. Throws a `TypeError` where it is missing: only `checkSession` asks for it. */
  requireKey(): string
  audience: string
  timeoutMs: number
  revocations: RevocationSettings | undefined
}

const DEVELOPMENT_URL = 'http://127.0.0.1:8080'
const DEFAULT_TIMEOUT_MS = 5000
/** What a timer can hold. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

const originOf = (text: string, name: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isOrigin || url.pathname !== '/' || url.search || url.hash) {
    throw new TypeError(`${name} must be an address of http or https without a path, such as ${DEVELOPMENT_URL}`)
  }
  return url.origin
}

/** The address of svc, by the option or by `SVC_URL`; undefined when neither is there. */
export const readGivenUrl = (given: string | undefined): string | undefined => {
  const text = given ?? readVariable('SVC_URL')
  return text === undefined ? undefined : originOf(text, given === undefined ? 'SVC_URL' : 'url')
}

// Where svc is somewhere else, the address of development may belong to any program.
const readUrl = (given: string | undefined): string | undefined =>
  readGivenUrl(given) ?? (isDevelopment() ? DEVELOPMENT_URL : undefined)

/** The option, checked, or the default. */
export const readTimeout = (timeoutMs: number = DEFAULT_TIMEOUT_MS): number => {
  if (timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT_MS) return timeoutMs
  throw new TypeError(`timeoutMs must be a number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}`)
}

const readAudience = (audience: string = 'app'): string => {
  if (audience !== '') return audience
  throw new TypeError('audience must not be empty: it is the one that svc writes into the tokens')
}

/** The public origin, by the option or by `SVC_BASE_URL`; undefined when neither is there. */
export const readIssuer = (given: string | undefined): string | undefined => {
  const text = given ?? readVariable('SVC_BASE_URL')
  return text === undefined ? undefined : originOf(text, given === undefined ? 'SVC_BASE_URL' : 'issuer')
}

/** Completes the options. Throws a `TypeError` that names the option and the variable of one that is wrong. */
export const readSettings = ({ url, issuer, audience, apiKey, timeoutMs, revocations }: AuthOptions): AuthSettings => ({
  requireUrl: onDemand(
    () => readUrl(url),
    `The address of svc is missing: give the option "url" or set SVC_URL. Only in development is it ${DEVELOPMENT_URL} by default.`,
  ),
  requireIssuer: onDemand(
    () => readIssuer(issuer),
    'The issuer is missing: give the option "issuer" or set SVC_BASE_URL to the public origin of svc.',
  ),
  requireKey: onDemandKey(apiKey),
  audience: readAudience(audience),
  timeoutMs: readTimeout(timeoutMs),
  revocations: readRevocations(revocations, apiKey),
})
