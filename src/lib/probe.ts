import type { DerivedKeys, RootSecret } from './derived-keys.ts'
import { equalInConstantTime, hmac, randomToken } from './secrets.ts'

/**
 * The header marks a probe: a request of `svc doctor` that svc answers on any path, with what has arrived of it. Nobody
 * can make one without the root secret, and it is for one origin: another server that gets it learns nothing about svc
 * with it.
 */
export const PROBE_HEADER = 'svc-probe'

/** Probes carry this, as clients carry their tokens. */
export const PROBE_AUTHORIZATION = 'Bearer probe'

/** A probe is good for this time. */
export const PROBE_LIFETIME_MS = 60_000

/** Another probe is answered with cookies, or with a stream of events that goes on for a while. */
const KINDS = ['plain', 'cookies', 'stream'] as const
export type ProbeKind = (typeof KINDS)[number]

/** The answer to a probe of the kind `stream` ends so long after its only event. */
export const PROBE_STREAM_MS = 1000

/** This is a probe as svc received it. */
export interface ProbeAnswer {
  /** The nonce names the probe that was answered. */
  nonce: string
  /** The target has its query, as it came. */
  path: string
  /** The host is that of `Host`, or of what a trusted proxy forwards. */
  host: string | null
  scheme: 'http' | 'https'
  /** This is the client's address, past trusted proxies. */
  address: string
  /** The port of the other end of the connection. */
  port: number | undefined
  /** These are the names of all cookies, in order. */
  cookies: string[]
  /** `Authorization` is only told where it is the one that probes carry: another has a user's password or token. */
  authorization?: typeof PROBE_AUTHORIZATION
  /** Proxies have said this, and the nearest one is trusted or not. */
  forwarded: { for: boolean; host: string | null; proto: string | null; trusted: boolean }
  base_url: string
  /** These are the names of svc's session cookies. */
  cookie_names: string[]
  /** This is each `Set-Cookie` of this answer, as svc wrote it. */
  set_cookies: string[]
  time: string
}

const PURPOSE = 'doctor probes'
const FORM = /^(\d{13})\.([\w-]{22})\.([a-z]+)\.([\w-]{1,400})\.([\w-]{43})$/

const macOf = (keys: DerivedKeys, facts: string): string => hmac(keys.for(PURPOSE), `probe\n${facts}`, 'base64url')

interface SignedFacts {
  kind: ProbeKind
  /** The probe is sent there. */
  origin: string
}

/** Makes a new probe, and the nonce that names it. `nowMs` is the time at the service. */
export const signProbe = (
  keys: DerivedKeys,
  { kind, origin }: SignedFacts,
  nowMs: number,
): { header: string; nonce: string } => {
  const nonce = randomToken(16)
  // Half of the time is for clocks that differ and for slow networks.
  const facts = `${Math.round(nowMs + PROBE_LIFETIME_MS / 2)}.${nonce}.${kind}.${Buffer.from(origin).toString('base64url')}`
  return { header: `${facts}.${macOf(keys, facts)}`, nonce }
}

/** Reads a good probe; returns undefined for anything else. */
export const readProbe = (
  rootSecret: RootSecret,
  header: string,
  nowMs: number,
): (SignedFacts & { nonce: string }) | undefined => {
  const [, expiresMs, nonce, word, encoded = '', mac] = FORM.exec(header) ?? []
  const kind = KINDS.find((each) => each === word)
  if (nonce === undefined || kind === undefined) return undefined
  const facts = `${expiresMs}.${nonce}.${kind}.${encoded}`
  const isSigned = rootSecret.find((keys) => equalInConstantTime(mac, macOf(keys, facts)) || undefined)
  const leftMs = Number(expiresMs) - nowMs
  if (!isSigned || leftMs <= 0 || leftMs > PROBE_LIFETIME_MS) return undefined
  return { kind, nonce, origin: Buffer.from(encoded, 'base64url').toString() }
}
