import type { IncomingHttpHeaders } from 'node:http'
import type { RootSecret } from '../../lib/derived-keys.ts'
import { request as requestByHttp } from '../../lib/node-http.ts'
import { PROBE_HEADER, PROBE_STREAM_MS, type ProbeAnswer, type ProbeKind, signProbe } from '../../lib/probe.ts'
import { monotonicClock, systemClock } from '../../lib/time.ts'

export interface Place {
  origin: string
  /** Certificates of further authorities, PEM. */
  ca: string | undefined
}

export interface Target extends Place {
  rootSecret: RootSecret
}

export interface WireAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** The end of the body came so long after its beginning. */
  bodyMs: number
  ends: { localAddress: string; localPort: number; remoteAddress: string }
}

const TIMEOUT_MS = 10_000
const MAX_BODY_CHARACTERS = 65_536

/**
 * Sends one request over a connection of its own, with the path and query as they are, and follows no redirect. Rejects
 * with the error of Node.
 */
export const exchange = (
  { origin, ca }: Place,
  path: string,
  headers: Record<string, string> = {},
): Promise<WireAnswer> => {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>()
  const url = new URL(origin)
  const options = { path, headers, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) } as const
  const { request: requestByHttps } = process.getBuiltinModule('node:https')
  const request =
    url.protocol === 'https:' ? requestByHttps(url, { ...options, ...trusted(ca) }) : requestByHttp(url, options)
  request.on('error', reject).on('response', (response) => {
    let body = ''
    let begunMs: number | undefined
    const { localAddress = '', localPort = 0, remoteAddress = '' } = response.socket
    const ends = { localAddress, localPort, remoteAddress }
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      begunMs ??= monotonicClock.elapsedMs()
      body += body.length < MAX_BODY_CHARACTERS ? text : ''
    })
    response.on('error', reject)
    response.on('end', () => {
      const endedMs = monotonicClock.elapsedMs()
      const { statusCode: status = 0, headers: received } = response
      resolve({ status, headers: received, body, bodyMs: endedMs - (begunMs ?? endedMs), ends })
    })
  })
  request.end()
  return promise
}

/** The given authorities count besides those that Node trusts. */
const trusted = (ca: string | undefined) => {
  if (ca === undefined) return {}
  const { getCACertificates } = process.getBuiltinModule('node:tls')
  return { ca: [...getCACertificates('default'), ca] }
}

export interface Probed {
  answer: WireAnswer
  /** It is undefined where svc has not answered. */
  seen: ProbeAnswer | undefined
  /** It is there where the origin is another one: the service says nothing else then. */
  baseUrl: string | undefined
  /** It is true if the answer is that to an earlier probe. */
  isOld: boolean
  /** The clock of the service is ahead of this one by so much. */
  aheadMs: number | undefined
}

interface Sent {
  path: string
  kind?: ProbeKind
  cookie?: string
  authorization?: string
  /** The clock of the service is ahead by so much, as far as it is known. */
  aheadMs?: number
}

/** A clock that differs by more is reported, and not followed. */
export const MAX_AHEAD_MS = 86_400_000

/** Sends one probe. Rejects where there is no answer at all. */
export const sendProbe = async (target: Target, sent: Sent): Promise<Probed> => {
  const { path, kind = 'plain', cookie, authorization, aheadMs = 0 } = sent
  const { origin, rootSecret } = target
  const { header, nonce } = signProbe(rootSecret.keys, { kind, origin }, serviceNow(aheadMs))
  const headers = {
    [PROBE_HEADER]: header,
    accept: 'application/json',
    ...(cookie !== undefined && { cookie }),
    ...(authorization !== undefined && { authorization }),
  }
  const sentMs = systemClock.now()
  const answer = await exchange(target, path, headers)
  const said = readAnswer(answer)
  const seen = isProbeAnswer(said) ? said : undefined
  const halfwayMs = (sentMs + systemClock.now()) / 2
  return {
    answer,
    seen,
    baseUrl: seen === undefined && typeof said?.base_url === 'string' ? said.base_url : undefined,
    isOld: seen !== undefined && seen.nonce !== nonce,
    aheadMs: seen && Date.parse(seen.time) - halfwayMs,
  }
}

/** Tells whether the event of a stream arrives before the stream ends; it is undefined if svc has sent none. */
export const arrivesInTime = async (target: Target, path: string, aheadMs: number): Promise<boolean | undefined> => {
  const { header } = signProbe(target.rootSecret.keys, { kind: 'stream', origin: target.origin }, serviceNow(aheadMs))
  // A proxy that compresses what clients accept so may wait for more of it.
  const sent = { [PROBE_HEADER]: header, accept: 'text/event-stream', 'accept-encoding': 'gzip' }
  const { status, headers, bodyMs } = await exchange(target, path, sent)
  const isStream = status === 200 && headers['content-type']?.startsWith('text/event-stream')
  return isStream ? bodyMs >= PROBE_STREAM_MS / 2 : undefined
}

/** Any server may have said what time it is. With a later one it could use the probe for as long as it likes. */
const serviceNow = (aheadMs: number): number => systemClock.now() + (Math.abs(aheadMs) <= MAX_AHEAD_MS ? aheadMs : 0)

type Said = Partial<Record<keyof ProbeAnswer, unknown>>

/** Any server may have answered, and with anything. */
const readAnswer = ({ status, body }: WireAnswer): Said | undefined => {
  if (status !== 200) return undefined
  try {
    const { probe }: { probe?: unknown } = JSON.parse(body)
    return typeof probe === 'object' && probe !== null ? probe : undefined
  } catch {
    return undefined
  }
}

const TEXTS = ['nonce', 'path', 'scheme', 'address', 'base_url', 'time'] as const
const LISTS = ['cookies', 'cookie_names', 'set_cookies'] as const

const areTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === 'string')

const isProbeAnswer = (said: Said | undefined): said is ProbeAnswer =>
  said !== undefined &&
  TEXTS.every((key) => typeof said[key] === 'string') &&
  LISTS.every((key) => areTexts(said[key])) &&
  typeof said.forwarded === 'object' &&
  said.forwarded !== null
