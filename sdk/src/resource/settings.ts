import { onDemand } from '../auth/on-demand.ts'
import { type AuthSettings, readGivenUrl, readIssuer, readTimeout } from '../auth/settings.ts'
import type { OutageOptions } from '../guard/outage.ts'
import type { RevocationOptions } from '../revocations/settings.ts'

/** How a resource server reaches svc. */
export interface SourceOptions extends OutageOptions {
  /** The address of svc as the backend reaches it. Default: `SVC_URL`, and without it the origin of the issuer. */
  url?: string | undefined
  /** The issuer of tokens: the public origin of svc with `/auth`. Default: `SVC_BASE_URL` with `/auth`. */
  issuer?: string | undefined
  /** How long a question to svc may take, in milliseconds. Default: 5000. */
  timeoutMs?: number | undefined
}

/** What is protected, and for whom. */
export interface ResourceOptions extends SourceOptions {
  /** The address of the resource, which `SVC_CLIENT_RESOURCES` of svc names, such as `https://example.com/mcp`. */
  resource: string
  /** The scopes that a token must have, all of them. */
  scopes?: readonly string[] | undefined
  /** With this, `requireToken` refuses the tokens of grants that have ended. */
  revocations?: RevocationOptions | undefined
}

/** The options, complete and checked. */
export interface SourceSettings extends Pick<AuthSettings, 'requireUrl' | 'timeoutMs'> {
  /** The issuer with its `/auth`. Throws a `TypeError` where it is missing. */
  requireIssuer(): string
}

const readOrigin = (issuer: string | undefined): string | undefined => readIssuer(issuer?.replace(/\/auth$/, ''))

/** Completes the options. Throws a `TypeError` that names the option of one that is wrong. */
export const readSource = ({ url, issuer, timeoutMs }: SourceOptions): SourceSettings => {
  const requireOrigin = onDemand(
    () => readOrigin(issuer),
    'The issuer is missing: give the option "issuer" or set SVC_BASE_URL to the public origin of svc.',
  )
  return {
    requireUrl: onDemand(
      () => readGivenUrl(url) ?? readOrigin(issuer),
      'The address of svc is missing: give the option "url" or "issuer", or set SVC_URL or SVC_BASE_URL.',
    ),
    requireIssuer: () => `${requireOrigin()}/auth`,
    timeoutMs: readTimeout(timeoutMs),
  }
}

/** The address of a resource. Throws a `TypeError` for what svc makes no tokens for. */
export const readResource = (resource: string): URL => {
  const url = URL.canParse(resource) ? new URL(resource) : undefined
  const isKnown = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !resource.includes('#')
  if (isKnown) return url
  throw new TypeError(
    'resource must be an address of http or https without a fragment, such as https://example.com/mcp',
  )
}

// They stand in a header between quotes (RFC 6749 section 3.3).
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The scopes. Throws a `TypeError` for one that no token can have. */
export const readScopes = (scopes: readonly string[] = []): readonly string[] => {
  if (Array.isArray(scopes) && scopes.every((scope) => SCOPE.test(scope))) return scopes
  throw new TypeError('scopes must be a list of names without spaces and quotes, such as ["notes:read"]')
}
