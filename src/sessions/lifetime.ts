import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Session, SessionWithUser } from './session.ts'
import type { SignInGrant } from './sign-in-grant.ts'

export interface Lifetimes {
  accessTokenMs: number
  sessionMs: number
  idleMs: number
  /** A refresh token that was just replaced stays good for this long. */
  graceMs: number
}

/** A user signs in from a device, which their list of sessions shows. */
export interface Device {
  userAgent: string
  address: string
}

// This many rotations are remembered within one grace period: an honest browser makes fewer.
const MAX_REMEMBERED_ROTATIONS = 16
const MAX_USER_AGENT_LENGTH = 512

/** It stands in place of the time at which a token was replaced: the token is good until its successor is used. */
export const UNTIL_NEXT_IS_USED = Number.MAX_SAFE_INTEGER

const trimmed = ({ userAgent, address }: Device): Device => ({
  userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
  address,
})

interface NewSession {
  id: string
  userId: string
  device: Device
  nowMs: number
  authenticatedAtMs: number | undefined
  amr: SignInGrant['amr']
  provider: string | undefined
  deviceHash: string
}

export const newSession = ({ id, userId, device, nowMs, ...rest }: NewSession, lifetimes: Lifetimes): Session => ({
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

/** The refresh tokens of a session, or of a grant of a client, replace one another. */
export type Rotating = Pick<Session, 'generation' | 'replacedAtMs' | 'expiresAtMs' | 'absoluteExpiresAtMs'>

/** Gives a row with its next refresh token, and a later end. */
export const rotate = <Row extends Rotating>(
  row: Row,
  nowMs: number,
  { graceMs, idleMs }: Pick<Lifetimes, 'graceMs' | 'idleMs'>,
): Row => {
  // None is later than now: a clock may have been set back, and `UNTIL_NEXT_IS_USED` ends here.
  const replacedAtMs = row.replacedAtMs.map((timeMs) => Math.min(timeMs, nowMs))
  const recent = replacedAtMs.filter((timeMs) => timeMs + graceMs > nowMs)
  return {
    ...row,
    generation: row.generation + 1,
    replacedAtMs: [...recent, nowMs].slice(-MAX_REMEMBERED_ROTATIONS),
    expiresAtMs: Math.min(nowMs + idleMs, row.absoluteExpiresAtMs),
  }
}

/** Gives the session with its next refresh token, where it was seen now. */
export const rotateSession = <S extends Session>(
  session: S,
  device: Device,
  nowMs: number,
  lifetimes: Lifetimes,
): S => ({ ...rotate(session, nowMs, lifetimes), ...trimmed(device), lastSeenAtMs: nowMs })

/** Tells when the refresh token of an earlier generation was replaced; it returns undefined if that is long past. */
export const replacedAt = (
  row: Pick<Rotating, 'generation' | 'replacedAtMs'>,
  generation: number,
): number | undefined => row.replacedAtMs.at(generation - row.generation)

/**
 * Gives the time by which a row is judged, in milliseconds since 1970: that of the database's server as the row was
 * read, which is the same for all replicas whatever their own clocks say. If there is no server, it is that of this
 * machine now.
 */
export const currentTimeMs = ({ readAtMs }: { readAtMs: number | null | undefined }, clock: Clock): number =>
  readAtMs ?? clock.now()

/** Tells whether a session has not expired, and its user is not disabled. */
export const isUsable = (session: SessionWithUser, clock: Clock): boolean =>
  session.expiresAtMs > currentTimeMs(session, clock) && !session.user.disabled

/** The server has said its time as it read a row; the clock of this process was read before it was asked. */
export interface ServerReading {
  readAtMs: number | undefined
  askedAtMs: number
}

/**
 * Converts a time in the past from the clock of this process to that of the server; the time is unchanged if there is
 * no server. The result is never too early: a request that began before a proof would count the proof as older, and ask
 * again. It is too late by the way of the question at most, and not by that of the answer, which may have waited.
 */
export const byServerTime = (timeMs: number, { readAtMs, askedAtMs }: ServerReading): number =>
  readAtMs === undefined ? timeMs : readAtMs - (askedAtMs - timeMs)
