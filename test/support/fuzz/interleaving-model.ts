import type { Core } from '../../../src/core.ts'
import type { CookieJar } from '../client/cookie-jar.ts'
import type { Answer } from '../client/user-agent.ts'
import type { Action } from './interleaving-plan.ts'

/** `open`: nobody can know, because actions at the same moment or a thief decide it. */
type SessionState = 'alive' | 'open' | 'ended'

/** What must hold for a session, by what was answered. */
export interface ModelSession {
  state: SessionState
  /** Why it has ended. */
  why: string
  /** A thief has renewed it: which of the two is caught first, nobody can know. */
  isShared: boolean
  /** Copies of the cookies that a browser has had for it, the latest first. */
  copies: CookieJar[]
  startedAtMs: number
  /** The last renewal that is certain, and the last that is possible. */
  renewedAtMs: number
  usedAtMs: number
}

/** An action, the session that the browser had before it, and the response. */
export interface Outcome {
  action: Action
  before: string
  /** The session in the cookies of the response; '' without one. */
  after: string
  answer: Answer | undefined
}

const DAY_MS = 86_400_000
const IDLE_MS = 14 * DAY_MS
const ABSOLUTE_MS = 30 * DAY_MS
/** Clocks jump by an hour at most, and each look takes a moment. */
const UNCERTAIN_MS = 2 * 3_600_000
const KEPT_COPIES = 4

export type ModelSessions = Map<string, ModelSession>

export const addSession = (sessions: ModelSessions, id: string, nowMs: number): void => {
  if (id === '' || sessions.has(id)) return
  const times = { startedAtMs: nowMs, renewedAtMs: nowMs, usedAtMs: nowMs }
  sessions.set(id, { state: 'alive', why: '', isShared: false, copies: [], ...times })
}

export const keepCopy = (sessions: ModelSessions, id: string, jar: CookieJar): void => {
  const session = sessions.get(id)
  if (!session || session.copies[0]?.get('svc_refresh') === jar.get('svc_refresh')) return
  session.copies = [jar.copy(), ...session.copies].slice(0, KEPT_COPIES)
}

const end = (session: ModelSession | undefined, why: string): void => {
  if (!session || session.state === 'ended') return
  session.state = 'ended'
  session.why = why
}

const leaveOpen = (session: ModelSession | undefined): void => {
  if (session?.state === 'alive') session.state = 'open'
}

export const noteRenewal = (session: ModelSession, timeMs: number): void => {
  session.renewedAtMs = timeMs
  session.usedAtMs = timeMs
}

/** Sessions end by themselves. */
export const letTimePass = (sessions: ModelSessions, nowMs: number): void => {
  for (const session of sessions.values()) {
    const latest = Math.min(session.usedAtMs + IDLE_MS, session.startedAtMs + ABSOLUTE_MS)
    const earliest = Math.min(session.renewedAtMs + IDLE_MS, session.startedAtMs + ABSOLUTE_MS)
    if (nowMs > latest + UNCERTAIN_MS) end(session, 'it was not used')
    else if (nowMs > earliest - UNCERTAIN_MS) leaveOpen(session)
  }
}

export const isDone = ({ action: { does }, answer }: Outcome): boolean => {
  if (answer === undefined) return true
  if (does === 'log in') return answer.status === 303 && answer.cookie('svc_refresh') !== undefined
  if (does === 'log out') return answer.status === 303 && answer.location === '/'
  if (does === 'change the password') return answer.location === '/auth/account?done=password#signing-in'
  if (does === 'end the others') return answer.location === '/auth/account?done=sessions#devices'
  return answer.status === 200
}

/** What operators do to all sessions of a user. */
const ENDS_ALL: readonly Action['does'][] = ['disable', 'set a password', 'end all']
/** What no login with the password of before survives, whichever was first. */
const ENDS_LOGINS: readonly Action['does'][] = ['disable', 'set a password', 'change the password']

/** Draws the conclusions of actions at the same moment. `known`: the sessions that were there before them. */
export const conclude = (sessions: ModelSessions, outcomes: readonly Outcome[], nowMs: number): void => {
  const known = [...sessions.keys()]
  const done = outcomes.filter(isDone)
  const did = (names: readonly Action['does'][]) => done.filter(({ action }) => names.includes(action.does))
  for (const { after } of did(['log in', 'change the password'])) addSession(sessions, after, nowMs)

  for (const { action, before, after } of done) {
    const session = sessions.get(before)
    if (action.does === 'log out') end(session, 'it was logged out')
    if (action.does === 'log in' && after !== before) end(session, 'another login in its browser has replaced it')
    if (action.does === 'use the copy' && session) session.isShared = true
    if (session && action.does === 'refresh') noteRenewal(session, nowMs)
    else if (session) session.usedAtMs = nowMs
  }
  for (const { action, before, after } of outcomes) {
    if (action.does === 'use the copy' && !isDone({ action, before, after, answer: undefined }))
      leaveOpen(sessions.get(before))
  }
  for (const { action, before, after } of did([...ENDS_ALL, 'change the password', 'end the others'])) {
    const spared = action.does === 'end the others' ? before : after
    for (const id of known) if (id !== spared) end(sessions.get(id), `${action.does} ended it`)
  }
  const logins = did(['log in']).map(({ after }) => after)
  const enders = did(ENDS_LOGINS)
  const isEnabling = did(['enable']).length > 0 && did(['disable']).length > 0
  for (const id of logins) {
    const certain = enders.find(({ after }) => after !== id)
    if (certain && !isEnabling) end(sessions.get(id), `${certain.action.does} at the same moment`)
    else if (did(['end all', 'end the others', 'log out', 'enable']).length > 0 || logins.length > 1)
      leaveOpen(sessions.get(id))
  }
  for (const { after } of did(['change the password'])) {
    const others = did([...ENDS_ALL, 'log out', 'end the others', 'log in']).length
    if (others > 0) leaveOpen(sessions.get(after))
  }
  // A session that was ended at the same moment may have ended no other one.
  if (did(['end the others']).length > 1) for (const id of known) leaveOpen(sessions.get(id))
}

/** Which of these passwords is the user's; none while they are disabled. */
export const passwordOf = async (
  operator: Core,
  email: string,
  candidates: readonly string[],
): Promise<string | undefined> => {
  for (const password of candidates) {
    const result = await operator.users.authenticate(email, password)
    if (!('refusal' in result) || result.refusal === 'account_disabled') return password
  }
  return undefined
}
