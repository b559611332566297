import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { newPerson } from '../client/accounts.ts'
import type { Answer } from '../client/user-agent.ts'
import {
  addSession,
  conclude,
  isDone,
  keepCopy,
  letTimePass,
  noteRenewal,
  type ModelSessions,
  type Outcome,
  passwordOf,
} from './interleaving-model.ts'
import { type Action, BROWSERS, type Pause, plan, type Step } from './interleaving-plan.ts'
import {
  assertShutOut,
  type InterleavingWorld,
  isLetIn,
  logIn,
  newUser,
  newVisitor,
  open,
  post,
  read,
  refresh,
  sessionIn,
  type Visitor,
} from './interleaving-user.ts'

let passedMs = 0
let jumpMs = 0

/** Time passes for services and database; a jump is one of the clock of the services alone. */
const pauseFor = async ({ clock }: InterleavingWorld, pause: Pause): Promise<void> => {
  if ('passes' in pause) passedMs += pause.passes
  else jumpMs = pause.jumps
  if ('passes' in pause && pause.passes > 0) await clock.turnTo(passedMs)
  clock.setWallClockTo(passedMs + jumpMs)
}

const nowMs = (): number => Date.now() + passedMs

/** One user with their browsers, and what must be true about them. */
const startRun = async (world: InterleavingWorld) => {
  const { id, person, visitors } = await newUser(world, BROWSERS)
  const sessions: ModelSessions = new Map()
  let thief: Visitor | undefined
  let isDisabled = false
  const visitorOf = (browser: number): Visitor => visitors[browser] ?? assert.fail()
  for (const { jar } of visitors) addSession(sessions, sessionIn(jar), nowMs())

  const guess = async (times: number, at: number): Promise<undefined> => {
    for (let count = 0; count < times; count += 1)
      await logIn(newVisitor(world), at, { ...person, password: `guess ${count}` })
  }

  const operate = async (does: Action['does'], next: string): Promise<undefined> => {
    const { users, sessions: all } = world.operator
    if (does === 'disable') await users.change(id, { disabled: true })
    if (does === 'enable') await users.change(id, { disabled: false })
    if (does === 'set a password') await users.setPassword(id, next)
    if (does === 'end all') await all.endAll(id)
  }

  const act = async (action: Action, next: string): Promise<Answer | undefined> => {
    if (action.does === 'guess') return guess(action.times, action.at)
    if (action.does === 'copy the cookies') {
      const { jar } = visitorOf(action.browser)
      thief = newVisitor(world, jar.copy())
      return undefined
    }
    if (action.does === 'use the copy') return thief && refresh(thief, action.at)
    if (action.does === 'read with the copy') return thief && read(thief, action.at)
    if (!('browser' in action)) return operate(action.does, next)
    const [visitor, { does, at }] = [visitorOf(action.browser), action]
    const change = { current_password: person.password, new_password: next }
    if (does === 'refresh') return refresh(visitor, at)
    if (does === 'read') return read(visitor, at)
    if (does === 'open') return open(visitor, at)
    if (does === 'log in') return logIn(visitor, at, person)
    if (does === 'log out') return post(visitor, at, '/auth/logout', {})
    if (does === 'change the password') return post(visitor, at, '/auth/account/password', change)
    if (does === 'end the others') return post(visitor, at, '/auth/account/sessions', { all_others: '1' })
    return logIn(visitor, at, { ...person, password: 'a wrong password' })
  }

  const jarOf = (action: Action) => {
    if ('browser' in action) return visitorOf(action.browser).jar
    return action.does === 'use the copy' || action.does === 'read with the copy' ? thief?.jar : undefined
  }

  const perform = async ({ action, afterMs }: Step['actions'][number], next: string): Promise<Outcome> => {
    if (afterMs > 0) await sleep(afterMs)
    const jar = jarOf(action)
    const before = jar ? sessionIn(jar) : ''
    const answer = await act(action, next)
    assert.ok((answer?.status ?? 200) < 500, `${action.does}: ${answer?.status} ${answer?.text}`)
    const after = (answer?.cookie('svc_refresh')?.value ?? '').split('.', 1).join('')
    return { action, before, after, answer }
  }

  /** An honest browser is never logged out. Its session is renewed as its script does it. */
  const assertHonestIsIn = async (visitor: Visitor, browser: number): Promise<void> => {
    const session = sessions.get(sessionIn(visitor.jar))
    if (session?.state === 'alive' && !session.isShared) {
      const token = visitor.jar.get('svc_refresh')
      for (const at of [0, 1]) assert.ok(await isLetIn(visitor, at), `browser ${browser} was logged out at ${at}`)
      if (visitor.jar.get('svc_refresh') !== token) noteRenewal(session, nowMs())
    }
    keepCopy(sessions, sessionIn(visitor.jar), visitor.jar)
  }

  /** A session that a thief shares, or that actions at the same moment decide about. */
  const lookAtOpenOnes = async (): Promise<void> => {
    for (const { jar } of visitors) {
      const session = sessions.get(sessionIn(jar))
      if (session?.state !== 'open' || session.isShared) continue
      session.state = (await isLetIn({ ...visitorOf(0), ...newVisitor(world, jar) }, 0)) ? 'alive' : 'ended'
      noteRenewal(session, nowMs())
      session.why ||= 'it was seen to have ended'
    }
  }

  const judgeAnswers = (outcomes: readonly Outcome[], alive: ReadonlySet<string>): void => {
    const isQuiet = outcomes.every(({ action: { does } }) => !['disable', 'enable', 'set a password'].includes(does))
    const isChanging = outcomes.some(({ action: { does } }) => does === 'change the password')
    for (const { action, before, answer } of outcomes) {
      const isSure = alive.has(before) && sessions.get(before)?.state === 'alive' && !sessions.get(before)?.isShared
      if (isSure && (action.does === 'refresh' || action.does === 'open'))
        assert.equal(answer?.status, 200, `${action.does}: ${answer?.status} ${answer?.text}`)
      if (action.does === 'log in' && isQuiet && !isChanging && !isDisabled && answer?.status !== 403)
        assert.equal(answer?.status, 303, `a known browser with the right password: ${answer?.text}`)
    }
  }

  const performStep = async ({ pause, actions }: Step): Promise<void> => {
    await pauseFor(world, pause)
    letTimePass(sessions, nowMs())
    for (const { jar } of visitors) keepCopy(sessions, sessionIn(jar), jar)
    const alive = new Set([...sessions].flatMap(([key, { state }]) => (state === 'alive' ? [key] : [])))
    const next = newPerson().password
    const outcomes = await Promise.all(actions.map((each) => perform(each, next)))
    conclude(sessions, outcomes, nowMs())
    const theft = outcomes.some(({ action, answer }) => action.does === 'use the copy' && answer !== undefined)
    if (theft) for (const { before, action } of outcomes) if (action.does === 'use the copy') shareOrEnd(before)
    judgeAnswers(outcomes, alive)
    person.password = (await passwordOf(world.operator, person.email, [person.password, next])) ?? person.password
    isDisabled = (await world.operator.users.find(id))?.disabled ?? false
    await lookAtOpenOnes()
    for (const [browser, visitor] of visitors.entries()) await assertHonestIsIn(visitor, browser)
    for (const [key, session] of sessions) if (alive.has(key) && session.state === 'ended') await assertEnded(key)
    assert.ok(outcomes.filter((each) => each.action.does === 'change the password' && isDone(each)).length <= 1)
  }

  const shareOrEnd = (key: string): void => {
    const session = sessions.get(key)
    if (session && session.state !== 'ended') session.isShared = true
  }

  const assertEnded = async (key: string): Promise<void> => {
    const session = sessions.get(key) ?? assert.fail()
    for (const copy of session.copies) await assertShutOut(world, copy, session.why)
  }

  return { id, sessions, performStep, assertEnded }
}

/** Tabs, logouts, changes, an operator, a thief and clocks, at two replicas: who was not revoked is let in, and only they. */
export const interleavingsHold = (world: InterleavingWorld) =>
  fc.asyncProperty(plan, async (steps) => {
    const run = await startRun(world)
    for (const step of steps) await run.performStep(step)
    await world.operator.users.change(run.id, { disabled: false })
    for (const [key, { state }] of run.sessions) if (state === 'ended') await run.assertEnded(key)
  })
