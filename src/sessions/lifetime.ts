import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Session, SessionOfUser } from './session-store.ts'

export interface Lifetimes {
  accessTokenMs: number
  sessionMs: number
  idleMs: number
  /** How long a refresh token that was just replaced stays good. */
  graceMs: number
}

/** From where somebody signs in, for his list of sessions. */
export interface Device {
  userAgent: string
  address: string
}

// Rotations that are remembered within one grace window: more than any honest browser makes.
const MAX_REMEMBERED_ROTATIONS = 16
const MAX_USER_AGENT_LENGTH = 512
const FRESH_MS = 10 * 60_000

const trimmed = ({ userAgent, address }: Device): Device => ({
  userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
  address,
})

interface Beginning {
  id: string
  userId: string
  device: Device
  nowMs: number
  authenticatedAtMs: number | undefined
}

export const beginSession = ({ id, userId, device, nowMs, ...rest }: Beginning, lifetimes: Lifetimes): Session => ({
  id,
  userId,
  salt: randomToken(16),
  generation: 1,
  replacedAtMs: [],
  createdAtMs: nowMs,
  lastSeenAtMs: nowMs,
  expiresAtMs: nowMs + Math.min(lifetimes.idleMs, lifetimes.sessionMs),
  absoluteExpiresAtMs: nowMs + lifetimes.sessionMs,
  ...trimmed(device),
  ...rest,
})

/** The session after its refresh token was replaced by the next one. */
export const moveOn = <S extends Session>(session: S, device: Device, nowMs: number, lifetimes: Lifetimes): S => {
  const recent = session.replacedAtMs.filter((timeMs) => timeMs + lifetimes.graceMs > nowMs)
  return {
    ...session,
    ...trimmed(device),
    generation: session.generation + 1,
    replacedAtMs: [...recent, nowMs].slice(-MAX_REMEMBERED_ROTATIONS),
    lastSeenAtMs: nowMs,
    expiresAtMs: Math.min(nowMs + lifetimes.idleMs, session.absoluteExpiresAtMs),
  }
}

/** Whether a token that was replaced is still within its grace. */
export const isInGrace = (session: Session, generation: number, nowMs: number, { graceMs }: Lifetimes): boolean => {
  const replacedAtMs = session.replacedAtMs.at(generation - session.generation)
  return replacedAtMs !== undefined && nowMs < replacedAtMs + graceMs
}

/**
 * The time by which a row is judged, in milliseconds since 1970: that of the database's server as it was read, which is
 * the same for all replicas, whatever their own clocks say; without a server that of this machine, at this moment.
 */
export const currentTimeMs = ({ readAtMs }: { readAtMs: number | undefined }, clock: Clock): number =>
  readAtMs ?? clock.now()

/** Whether a session has not run out, and its user may use it. */
export const isUsable = (session: SessionOfUser, clock: Clock): boolean =>
  session.expiresAtMs > currentTimeMs(session, clock) && !session.user.disabled

/** When the user of a session last proved who they are, and the time by which that is judged. */
export type Authenticated = Pick<SessionOfUser, 'authenticatedAtMs' | 'readAtMs'>

/** Whether that was so short a time ago that it can be taken to be the same person who is there now. */
export const isFresh = (session: Authenticated, clock: Clock): boolean => {
  const { authenticatedAtMs } = session
  return authenticatedAtMs !== undefined && currentTimeMs(session, clock) - authenticatedAtMs < FRESH_MS
}

/**
 * A time in the past that was taken by the clock of this process, by the clock of the server that has just said
 * `readAtMs`; as it is where there is no server.
 */
export const byServerTime = (timeMs: number, { readAtMs }: { readAtMs: number | undefined }, clock: Clock): number =>
  readAtMs === undefined ? timeMs : readAtMs - (clock.now() - timeMs)
