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

/** Sends one probe. Rejects where there is no answer at all. */
export const sendProbe = async (
  { origin, rootSecret, ca }: Target,
  { path, kind = 'plain', cookie, aheadMs = 0 }: Sent,
): Promise<Probed> => {
  const { header, nonce } = signProbe(rootSecret.keys, kind, systemClock.now() + aheadMs)
  const headers = { [PROBE_HEADER]: header, accept: 'application/json', ...(cookie !== undefined && { cookie }) }
  const sentMs = systemClock.now()
  const answer = await exchange({ origin, path, headers, ca })
  const seen = readAnswer(answer)
  const halfwayMs = (sentMs + systemClock.now()) / 2
  return {
    answer,
    seen,
    isOld: seen !== undefined && seen.nonce !== nonce,
    aheadMs: seen && Date.parse(seen.time) - halfwayMs,
  }
}

const readAnswer = ({ status, body }: WireAnswer): ProbeAnswer | undefined => {
  if (status !== 200) return undefined
  try {
    const { probe }: { probe?: unknown } = JSON.parse(body)
    return isProbeAnswer(probe) ? probe : undefined
  } catch {
    return undefined
  }
}

const TEXTS = ['nonce', 'path', 'scheme', 'address', 'base_url', 'time'] as const
const LISTS = ['cookies', 'cookie_names', 'set_cookies'] as const

const areTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === 'string')

/** Any server may answer, and with anything. */
const isProbeAnswer = (value: unknown): value is ProbeAnswer => {
  if (typeof value !== 'object' || value === null) return false
  const facts: Partial<Record<keyof ProbeAnswer, unknown>> = value
  return (
    TEXTS.every((key) => typeof facts[key] === 'string') &&
    LISTS.every((key) => areTexts(facts[key])) &&
    typeof facts.forwarded === 'object' &&
    facts.forwarded !== null
  )
}
