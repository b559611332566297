import type { RootSecret } from '../../lib/derived-keys.ts'
import { PROBE_HEADER, type ProbeAnswer, type ProbeKind, signProbe } from '../../lib/probe.ts'
import { systemClock } from '../../lib/time.ts'
import { exchange, type WireAnswer } from './exchange.ts'

/** Where the doctor looks, and with what. */
export interface Target {
  /** The public origin. */
  origin: string
  rootSecret: RootSecret
  ca: string | undefined
}

/** What came back for a probe. */
export interface Probed {
  answer: WireAnswer
  /** What svc says; undefined where svc has not answered, or not as svc. */
  seen: ProbeAnswer | undefined
  /** What svc says where the origin is not its own: nothing but that. */
  baseUrl: string | undefined
  /** Whether the answer is that to an earlier probe. */
  isOld: boolean
  /** By how much the clock of the service is ahead of this one; undefined where svc has not answered. */
  aheadMs: number | undefined
}

interface Sent {
  path: string
  kind?: ProbeKind
  cookie?: string
  /** By how much the clock of the service is ahead, as far as it is known. */
  aheadMs?: number
}

/** A clock that differs by more is reported, and not followed. */
export const MAX_AHEAD_MS = 86_400_000

/** Sends one probe. Rejects where there is no answer at all. */
export const sendProbe = async (
  { origin, rootSecret, ca }: Target,
  { path, kind = 'plain', cookie, aheadMs = 0 }: Sent,
): Promise<Probed> => {
  // Any server may have said what time it is. With a later one it could use the probe for as long as it likes.
  const followedMs = Math.abs(aheadMs) <= MAX_AHEAD_MS ? aheadMs : 0
  const { header, nonce } = signProbe(rootSecret.keys, { kind, origin }, systemClock.now() + followedMs)
  const headers = { [PROBE_HEADER]: header, accept: 'application/json', ...(cookie !== undefined && { cookie }) }
  const sentMs = systemClock.now()
  const answer = await exchange({ origin, path, headers, ca })
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

type Said = Partial<Record<keyof ProbeAnswer, unknown>>

/** Any server may answer, and with anything. */
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
