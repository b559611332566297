import { setTimeout } from 'node:timers/promises'
import { PROBE_AUTHORIZATION, PROBE_HEADER, PROBE_STREAM_MS, type ProbeAnswer, readProbe } from '../lib/probe.ts'
import { toTimestamp } from '../lib/time.ts'
import type { RouteDeps } from './services.ts'
import { eventStream, type HttpResponse, json } from './response.ts'
import type { Destination } from './route.ts'
import { lastOf } from './transport/client-address.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** A probe is logged like this: it has no route. */
export const PROBE_DESTINATION: Destination = { path: undefined, responseKind: 'json', frequent: true }

/** This value makes the headers of the answer as long as those of a login. */
const LONG_VALUE = 'a'.repeat(1500)

type ProbeDeps = Pick<RouteDeps, 'rootSecret' | 'clock' | 'baseUrl' | 'cookieTable' | 'isTrustedProxy'>

/**
 * Answers the probes of `svc doctor`, on any path. The result is undefined for every other request: a probe that is not
 * good is answered as if it were none. A probe for another origin may come from a server that the doctor was sent to:
 * it learns the base URL. The target is the path with its query.
 */
export const createProbeAnswers = (deps: ProbeDeps) => {
  const { rootSecret, clock, baseUrl, cookieTable } = deps
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  const cookies = [
    `svc_probe_a=${LONG_VALUE}; Path=/; Max-Age=60; HttpOnly${secure}; SameSite=Lax`,
    `svc_probe_b=b; Path=/auth; Max-Age=60; HttpOnly${secure}; SameSite=Lax`,
    `svc_probe_c=1; Path=/; Max-Age=60${secure}; SameSite=Lax`,
  ]
  const names = [cookieTable.access, cookieTable.refresh, cookieTable.csrf].map(({ name }) => name)

  return (context: IncomingRequest, target: string): HttpResponse | undefined => {
    const header = context.headers[PROBE_HEADER]
    if (typeof header !== 'string') return undefined
    const probe = readProbe(rootSecret, header, clock.now())
    if (!probe) return undefined
    if (probe.origin !== baseUrl) return json(200, JSON.stringify({ probe: { base_url: baseUrl } }))
    if (probe.kind === 'stream') return eventStream(lasting())
    const setCookies = probe.kind === 'cookies' ? cookies : []
    context.setCookies(setCookies)
    const answer: ProbeAnswer = {
      nonce: probe.nonce,
      path: target,
      ...arrivalOf(deps, context),
      cookies: cookieNames(context.headers.cookie),
      ...(context.headers.authorization === PROBE_AUTHORIZATION && { authorization: PROBE_AUTHORIZATION }),
      base_url: baseUrl,
      cookie_names: names,
      set_cookies: setCookies,
      time: toTimestamp(clock.now()),
    }
    return json(200, JSON.stringify({ probe: answer }))
  }
}

/** A proxy that holds streams back hands this on when it ends: so little fills no buffer. */
async function* lasting(): AsyncGenerator<string> {
  yield 'data: probe\n\n'
  await setTimeout(PROBE_STREAM_MS, undefined, { ref: false })
}

/** Says where the request came to and from, as far as svc can see. */
const arrivalOf = ({ isTrustedProxy }: ProbeDeps, { headers, peer, peerPort, device }: IncomingRequest) => {
  const trusted = isTrustedProxy(peer)
  const host = lastOf(headers['x-forwarded-host']) ?? null
  const proto = lastOf(headers['x-forwarded-proto']) ?? null
  return {
    host: (trusted ? host : null) ?? headers.host ?? null,
    scheme: trusted && proto?.toLowerCase() === 'https' ? ('https' as const) : ('http' as const),
    address: device.address,
    port: peerPort,
    forwarded: { for: headers['x-forwarded-for'] !== undefined, host, proto, trusted },
  }
}

const cookieNames = (header = ''): string[] =>
  header
    .split(';')
    .map((pair) => pair.split('=', 1)[0]?.trim() ?? '')
    .filter(Boolean)
