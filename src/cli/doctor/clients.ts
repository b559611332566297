import { PROBE_AUTHORIZATION } from '../../lib/probe.ts'
import { newPath } from './checks.ts'
import { type Finding, finding } from './findings.ts'
import { exchange, type Place, sendProbe, type Target, type WireAnswer } from './probe.ts'

const DISCOVERY_PATH = '/auth/.well-known/openid-configuration'

/** Clients ask for these first, before they look below `/auth` (RFC 8414 section 3.1). */
const ROOT_PATHS = ['/.well-known/oauth-authorization-server/auth', '/.well-known/openid-configuration/auth']

/** Looks from outside whether clients of svc find it, and whether their tokens arrive there (docs/clients.md). */
export const inspectClients = async (target: Target): Promise<Finding[]> => {
  const roots = await Promise.all(ROOT_PATHS.map((path) => checkRoot(target, path)))
  return [...(await checkDiscovery(target)), ...roots.flat(), ...(await checkAuthorization(target))]
}

const checkDiscovery = async (place: Place): Promise<Finding[]> => {
  const at = place.origin + DISCOVERY_PATH
  const answer = await exchange(place, DISCOVERY_PATH).catch(() => undefined)
  const issuer = answer && issuerOf(answer)
  if (issuer === undefined) return [finding('discovery_missing', `${at} ${describe(answer)}.`)]
  const expected = `${place.origin}/auth`
  if (issuer === expected) return []
  return [finding('issuer_differs', `${at} names the issuer ${issuer.slice(0, 300)}, and not ${expected}.`)]
}

/** Only the document of svc or 404 lets clients go on: they give up at anything else. */
const checkRoot = async (place: Place, path: string): Promise<Finding[]> => {
  const answer = await exchange(place, path).catch(() => undefined)
  if (answer?.status === 404 || (answer && issuerOf(answer) === `${place.origin}/auth`)) return []
  return [finding('discovery_hidden', `${place.origin}${path} ${describe(answer)}.`)]
}

const checkAuthorization = async (target: Target): Promise<Finding[]> => {
  const probed = await sendProbe(target, { path: newPath(), authorization: PROBE_AUTHORIZATION }).catch(() => undefined)
  if (probed?.seen?.authorization === PROBE_AUTHORIZATION) return []
  const arrives = probed?.seen
    ? 'arrives at svc changed or not at all'
    : `is answered ${probed?.answer.status ?? 'not'} on the way`
  return [finding('authorization_lost', `A request with the header Authorization: Bearer ${arrives}.`)]
}

/** The result is undefined for what is no document of an authorization server. */
const issuerOf = ({ status, body }: WireAnswer): string | undefined => {
  if (status !== 200) return undefined
  try {
    const { issuer, token_endpoint: token }: { issuer?: unknown; token_endpoint?: unknown } = JSON.parse(body)
    return typeof issuer === 'string' && typeof token === 'string' ? issuer : undefined
  } catch {
    return undefined
  }
}

const describe = (answer: WireAnswer | undefined): string => {
  if (answer === undefined) return 'does not answer'
  const { status, headers } = answer
  if (status >= 300 && status < 400) return `redirects to ${headers.location}`
  return status === 200 ? 'answers 200 with something other than the document of svc' : `answers ${status}`
}
